package tl

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Dir is a direction of a logical topology: the name under which a rank knows a
// neighbour. The zero Dir, AnyDir, stands for "whichever has a message" in Recv.
type Dir uint8

// The directions that the built-in topologies use. Dim(i) names the dimensions of a
// hypercube; RegisterDir adds names such as "cube.E" for hierarchies.
const (
	AnyDir Dir = iota
	East
	West
	North
	South
	Parent
	Child0
	Child1

	dim0      Dir = 16
	dims          = 16
	firstUser Dir = dim0 + dims
)

// Dim is direction i (0..15) of a topology that counts its dimensions.
func Dim(i int) Dir {
	if i < 0 || i >= dims {
		panic(fmt.Sprintf("tl.Dim(%d): a topology has 0..%d dimensions", i, dims-1))
	}
	return dim0 + Dir(i)
}

// dirs has the names of all directions, by number; "" is no direction. Packages register theirs
// from init, lookups come later.
var dirs = struct {
	sync.RWMutex
	names []string
}{names: builtinDirs()}

func builtinDirs() []string {
	names := []string{
		AnyDir: "any", East: "E", West: "W", North: "N", South: "S",
		Parent: "parent", Child0: "child0", Child1: "child1", firstUser - 1: "",
	}
	for i := range dims {
		names[Dim(i)] = fmt.Sprintf("dim%d", i)
	}
	return names
}

// RegisterDir returns the direction called name, adding it when it is new. It is meant
// for package-level variables of topologies with names of their own.
func RegisterDir(name string) Dir {
	dirs.Lock()
	defer dirs.Unlock()
	i := slices.Index(dirs.names, name)
	if i < 0 {
		if i = len(dirs.names); i > 255 {
			panic("tl.RegisterDir: more than 224 directions registered")
		}
		dirs.names = append(dirs.names, name)
	}
	return Dir(i)
}

// String returns the name that output and configuration use: E, W, parent, dim3, cube.E.
func (d Dir) String() string {
	dirs.RLock()
	defer dirs.RUnlock()
	if int(d) < len(dirs.names) && dirs.names[d] != "" {
		return dirs.names[d]
	}
	return fmt.Sprintf("dir(%d)", uint8(d))
}

// ParseDir returns the inverse of String.
func ParseDir(s string) (Dir, error) {
	dirs.RLock()
	defer dirs.RUnlock()
	if i := slices.Index(dirs.names, s); i >= 0 && s != "" {
		return Dir(i), nil
	}
	want := append([]string{"E W N S parent child0 child1 dim0..dim15"}, dirs.names[firstUser:]...)
	return AnyDir, fmt.Errorf("unknown direction %q: want one of %s", s, strings.Join(want, " "))
}

// opposites are those of the directions that have a unique one, but for dimensions and users' own.
var opposites = [...]Dir{East: West, West: East, North: South, South: North, Child0: Parent, Child1: Parent}

// Opposite returns the direction from which a message sent along d arrives in a symmetric topology:
// E and W, N and S are opposite, a dimension is its own opposite. ok is false if there is no unique
// one (a parent has several children).
func (d Dir) Opposite() (opposite Dir, ok bool) {
	switch {
	case int(d) < len(opposites):
		return opposites[d], opposites[d] != AnyDir
	case d >= dim0 && d < firstUser:
		return d, true
	case d >= firstUser:
		return userOpposite(d)
	}
	return AnyDir, false
}

// userOpposite returns the opposite of a level-prefixed name: cube.W for cube.E.
func userOpposite(d Dir) (Dir, bool) {
	name := d.String()
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return AnyDir, false
	}
	base, err := ParseDir(name[i+1:])
	if err != nil {
		return AnyDir, false
	}
	o, ok := base.Opposite()
	if !ok {
		return AnyDir, false
	}
	full, err := ParseDir(name[:i+1] + o.String())
	return full, err == nil
}
