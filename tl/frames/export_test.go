package frames

// AtDepth returns the text of Caller from below some frames of this package.
//
//go:noinline
func AtDepth(n int) (text string) {
	if n > 0 {
		return AtDepth(n - 1)
	}
	return Caller().Text()
}

// Inlined is small enough to be inlined into its caller.
func Inlined() string { return AtDepth(0) }
