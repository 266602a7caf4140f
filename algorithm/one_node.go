package algorithm

import "kernbench/tl"

// Performer returns the algorithm whose kernel performs the calls of ranks on levels of these
// widths, with perCube ranks in a cube. It is OneNode if all ranks are of one node, else the
// algorithm itself.
func (a *Algorithm) Performer(world int, levels []int, perCube int) *Algorithm {
	if a.OneNode != nil && innermost(widthsIn(world, levels, perCube)) == world {
		return a.OneNode
	}
	return a
}

// dispatch makes the kernel of an algorithm call the kernel of its performer.
func (a *Algorithm) dispatch() {
	if a.OneNode == nil {
		return
	}
	own := a.Kernel
	a.Kernel = func(c *tl.Context, args tl.Args) {
		levels := args.Levels
		if a.KernelArgs == nil { // else Ints are the arguments of the kernel
			levels = innerLevels(args)
		}
		if p := a.Performer(c.WorldSize(), levels, c.NumPrograms(0)); p != a {
			p.Kernel(c, args)
			return
		}
		own(c, args)
	}
}
