package topology

import (
	"fmt"

	"kernbench/tl"
)

// MostLevels is the largest number of levels of a hierarchy.
const MostLevels = 7

var levelEast, levelWest [MostLevels]tl.Dir

func init() {
	for k := range MostLevels {
		levelEast[k] = tl.RegisterDir(fmt.Sprintf("level%d.E", k))
		levelWest[k] = tl.RegisterDir(fmt.Sprintf("level%d.W", k))
	}
}

// LevelEast returns the direction E round the ring of a level. Levels count from 0: the ranks that
// are next to each other.
func LevelEast(level int) tl.Dir { return levelEast[level] }

// LevelWest returns the direction W round the ring of a level.
func LevelWest(level int) tl.Dir { return levelWest[level] }

// LevelsOf returns the widths of all levels of a number of ranks; some of them are given. A width
// is the number of units of a level that make one unit of the next. The last level has the rest.
// Levels of one are left out.
func LevelsOf(world int, given []int) []int {
	var all []int
	for _, n := range given[:min(len(given), MostLevels-1)] {
		if n > 1 {
			all = append(all, n)
			world /= n
		}
	}
	if world > 1 {
		all = append(all, world)
	}
	return all
}

// Hierarchical has a ring for each level of a machine. The first are rings of the PEs of a cube.
// Then come rings of the PEs with the same place in the cubes of a row, and likewise for rows,
// packages and hosts. On a torus of any number of dimensions levels are its dimensions.
var Hierarchical = Register(Topology{
	Name:    "hierarchical",
	Summary: "level0.E, level0.W, level1.E, ...: a ring for each level of the machine, of ranks with the same place in the levels below",
	Nested:  true,
	Links: func(dst []Link, rank, world int, g Grid) []Link {
		stride := 1
		for k, n := range LevelsOf(world, g.given()) {
			me := rank / stride % n
			first := rank - me*stride
			dst = append(dst,
				Link{levelEast[k], int32(first + (me+1)%n*stride)},
				Link{levelWest[k], int32(first + (me+n-1)%n*stride)})
			stride *= n
		}
		return dst
	},
})

// given returns the levels that a grid names.
func (g Grid) given() []int {
	n := 0
	for n < MostLevels && g.Levels[n] != 0 {
		n++
	}
	return g.Levels[:n]
}

// WithLevels returns the grid of some levels, at most MostLevels.
func WithLevels(levels []int) Grid {
	var g Grid
	copy(g.Levels[:MostLevels-1], levels)
	return g
}

func (t *Topology) fitLevels(world int, g Grid) (Grid, error) {
	rest := world
	for k, n := range g.given() {
		if n < 1 || rest%n != 0 {
			return g, fmt.Errorf("%s of %d ranks: level %d of %d does not divide the %d that level %d has", t.Name, world, k, n, rest, k)
		}
		rest /= n
	}
	return g, nil
}
