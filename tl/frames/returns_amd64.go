package frames

// returns stores the innermost return addresses, that of its caller first, and a 0 after the last
// one if there are fewer than twelve. runtime.Callers also resolves inlining, which takes ten times
// as long and has to be done but once for each address.
//
//go:noescape
func returns(stack *[depth]uintptr)
