package sim_test

import (
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/mem"
)

// onRings lists the algorithms of the library that communicate through rings only. Where they
// have a window, it is memory of their own. The others are judged by the conformance tests of the
// library.
func onRings() []*algorithm.Algorithm {
	return slices.DeleteFunc(algorithm.All(),
		func(a *algorithm.Algorithm) bool { return a.Window != nil && !slices.Contains(ownWindow, a) })
}

// ownWindow are the algorithms whose ranks access only their own part of the window.
var ownWindow = []*algorithm.Algorithm{
	algorithm.MeshReduceScatter, algorithm.MultiRingReduceScatter, algorithm.RecursiveHalvingReduceScatter, algorithm.TorusReduceScatter,
}

// takes reports whether an algorithm performs calls of a size.
func takes(a *algorithm.Algorithm, world, n int) bool {
	return a.Check == nil || a.Check(world, n) == nil
}

// libraryBench returns a launch of an algorithm of the library, with the numbers that its row makes
// where the setup has none, and its window.
func libraryBench(t testing.TB, a *algorithm.Algorithm, s setup) *bench {
	t.Helper()
	s.topology, s.neighbors = a.Topology, a.Neighbors
	if s.args == nil && a.KernelArgs != nil {
		s.args = a.KernelArgs(s.world, s.n)
	}
	b := newBench(t, a.Kernel, s)
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	for r := range s.world {
		b.result = max(b.result, co.Out(collective.Call{World: s.world, Elems: s.n, Type: b.typ}, r))
	}
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
