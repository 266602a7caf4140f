package topology

// None has no links. It is the base for an override that makes all links, and for algorithms that
// address their peers by rank.
var None = Register(Topology{
	Name:    "none",
	Summary: "no neighbours, unless the algorithm's own override adds them",
	Links:   func(dst []Link, _, _ int, _ Grid) []Link { return dst },
})
