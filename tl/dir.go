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

var builtinDirs = map[Dir]string{
	AnyDir: "any", East: "E", West: "W", North: "N", South: "S",
	Parent: "parent", Child0: "child0", Child1: "child1",
}

// userDirs is a registry: packages add to it from init, lookups come later.
var userDirs struct {
	sync.RWMutex
	names []string
}

// RegisterDir returns the direction called name, adding it when it is new. It is meant
// for package-level variables of topologies with names of their own.
func RegisterDir(name string) Dir {
	if d, known := namedDir(name); known {
		return d
	}
	userDirs.Lock()
	defer userDirs.Unlock()
	if i := slices.Index(userDirs.names, name); i >= 0 {
		return firstUser + Dir(i) // another goroutine was quicker
	}
	if int(firstUser)+len(userDirs.names) > 255 {
		panic("tl.RegisterDir: more than 223 directions registered")
	}
	userDirs.names = append(userDirs.names, name)
	return firstUser + Dir(len(userDirs.names)-1)
}

// String returns the name that output and configuration use: E, W, parent, dim3, cube.E.
func (d Dir) String() string {
	if s, ok := builtinDirs[d]; ok {
		return s
	}
	if d >= dim0 && d < firstUser {
		return fmt.Sprintf("dim%d", d-dim0)
	}
	userDirs.RLock()
	defer userDirs.RUnlock()
	if i := int(d) - int(firstUser); i >= 0 && i < len(userDirs.names) {
		return userDirs.names[i]
	}
	return fmt.Sprintf("dir(%d)", uint8(d))
}

// ParseDir returns the inverse of String.
func ParseDir(s string) (Dir, error) {
	if d, known := namedDir(s); known {
		return d, nil
	}
	userDirs.RLock()
	defer userDirs.RUnlock()
	return AnyDir, fmt.Errorf("unknown direction %q: want one of E W N S parent child0 child1 dim0..dim15%s", s, userNames(userDirs.names))
}

// namedDir finds a direction without the text of an error: a process registers dozens at its start.
func namedDir(s string) (d Dir, known bool) {
	for d, name := range builtinDirs {
		if name == s {
			return d, true
		}
	}
	if strings.HasPrefix(s, "dim") {
		for i := range dims {
			if d := dim0 + Dir(i); d.String() == s {
				return d, true
			}
		}
	}
	userDirs.RLock()
	defer userDirs.RUnlock()
	if i := slices.Index(userDirs.names, s); i >= 0 {
		return firstUser + Dir(i), true
	}
	return AnyDir, false
}

func userNames(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " " + strings.Join(names, " ")
}

// Opposite returns the direction from which a message sent along d arrives in a symmetric topology:
// E and W, N and S are opposite, a dimension is its own opposite. ok is false if there is no unique
// one (a parent has several children).
func (d Dir) Opposite() (opposite Dir, ok bool) {
	switch {
	case d == East:
		return West, true
	case d == West:
		return East, true
	case d == North:
		return South, true
	case d == South:
		return North, true
	case d == Child0, d == Child1:
		return Parent, true
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
