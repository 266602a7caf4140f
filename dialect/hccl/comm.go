package hccl

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/device"
	"kernbench/mem"
	"kernbench/unit"
)

// ErrComm is wrapped by errors about a group, or about a launch on groups.
var ErrComm = errors.New("hccl: refused")

// DefaultBuffer is the size of a group's staging buffers unless another is given.
const DefaultBuffer = 1 << 20

// Options of a group.
type Options struct {
	// Buffer is the size of each staging buffer of tasks. A task with more data uses it several
	// times. 0: DefaultBuffer.
	Buffer unit.Bytes
	// Window is memory of each member that the others can access. GetWindowsInAddr and
	// GetWindowsOutAddr return its buffers "in" and "out". Nil: there is none.
	Window *mem.Window
}

// Comm is a group of devices, each of which is a PE with a rank of its own.
type Comm struct {
	name string
	dev  *device.Context
	team *mem.Team
	opts Options
}

// NewComm makes a group of PEs, by their numbers in the machine: the first has rank 0.
func NewComm(dev *device.Context, name string, pes []int32, o Options) (*Comm, error) {
	if o.Buffer == 0 {
		o.Buffer = DefaultBuffer
	}
	switch {
	case dev == nil:
		return nil, fmt.Errorf("%w: group %s: no device", ErrComm, name)
	case name == "" || len(name) > maxName:
		return nil, fmt.Errorf("%w: a group named %q: 1 to %d bytes", ErrComm, name, maxName)
	case o.Buffer < 64:
		return nil, fmt.Errorf("%w: group %s: staging buffers of %v: at least 64 bytes", ErrComm, name, o.Buffer)
	case o.Window != nil && o.Window.Released:
		return nil, fmt.Errorf("%w: group %s: window %s was freed", ErrComm, name, o.Window.Name)
	case o.Window != nil && !slices.Equal(o.Window.Team.PEs, pes):
		return nil, fmt.Errorf("%w: group %s: window %s is of team %s, which has other members", ErrComm, name,
			o.Window.Name, o.Window.Team.Name)
	}
	team, err := dev.NewTeam(name, pes)
	if err != nil {
		return nil, fmt.Errorf("%w: group %s: %w", ErrComm, name, err)
	}
	return &Comm{name: name, dev: dev, team: team, opts: o}, nil
}

// Name returns the group's name, which tilings use.
func (g *Comm) Name() string { return g.name }

// Size returns the number of ranks.
func (g *Comm) Size() int { return g.team.Size() }

// PEs lists the members by rank.
func (g *Comm) PEs() []int32 { return slices.Clone(g.team.PEs) }

// Free frees the group.
func (g *Comm) Free() error {
	if g == nil || g.dev == nil {
		return fmt.Errorf("%w: free of a group that NewComm has not made", ErrComm)
	}
	return g.dev.FreeTeam(g.team)
}

// perServer returns the number of ranks that share a server, which is a SIP here. ok is false if
// servers have different numbers, or if ranks of a server are not consecutive.
func (g *Comm) perServer() (n int, ok bool) {
	m := g.dev.Machine()
	per := m.NumPEs() / m.SIPs()
	first := 0
	for r, pe := range g.team.PEs {
		if int(pe)/per == int(g.team.PEs[first])/per {
			continue
		}
		if n == 0 {
			n = r - first
		}
		if r-first != n {
			return 0, false
		}
		first = r
	}
	last := g.Size() - first
	if n == 0 {
		n = last
	}
	servers := map[int]bool{}
	for r := 0; r < g.Size(); r += n {
		servers[int(g.team.PEs[r])/per] = true
	}
	return n, last == n && len(servers) == g.Size()/n
}
