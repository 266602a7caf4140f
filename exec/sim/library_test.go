package sim_test

import (
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/mem"
)

// onRings lists the algorithms of the library that talk through rings only: a window of those that
// are local is memory of their own. Others over a window are judged here by the conformance tests
// of the library.
func onRings() []*algorithm.Algorithm {
	return slices.DeleteFunc(algorithm.All(), func(a *algorithm.Algorithm) bool { return a.Window != nil && !a.Local })
}

// localOnes lists those whose kernels are local.
func localOnes() []*algorithm.Algorithm {
	return slices.DeleteFunc(onRings(), func(a *algorithm.Algorithm) bool { return !a.Local })
}

// libraryBench is a launch of an algorithm of the library, with the numbers that its row makes
// where the setup has none, and its window.
func libraryBench(t testing.TB, a *algorithm.Algorithm, s setup) *bench {
	t.Helper()
	s.topology, s.neighbors = a.Topology, a.Neighbors
	if s.args == nil && a.KernelArgs != nil {
		s.args = a.KernelArgs(s.world, s.n)
	}
	b := newBench(t, a.Kernel, s)
	b.launch.Local, b.launch.Sends = a.IsLocal(b.launch.Groups), a.Sends
	b.launch.Alike = b.launch.Local && a.IsAlike(b.launch.Groups)
	if a.Window != nil {
		l, err := a.Window(s.world, s.n, b.typ)
		if err != nil {
			t.Fatal(err)
		}
		team, err := mem.NewTeam("all", b.launch.Groups[0].PEs)
		if err != nil {
			t.Fatal(err)
		}
		b.launch.Groups[0].Args.Windows = []*mem.Window{mem.NewWindow("w", team, l, windowAt)}
	}
	return b
}
