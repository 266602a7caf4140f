// Package probe measures how fast the PEs of a machine read memory near and far, alone and
// together. For the default machine it prints published figures next to its rows.
//
// It may import lab/run and packages below it. Start at Run.
package probe

import (
	"context"
	"fmt"

	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Row is one access pattern of a machine's memories, simulated.
type Row struct {
	Case      string    `json:"case"`
	Placement string    `json:"placement"` // which PEs read whose slices
	Bytes     int64     `json:"bytes"`     // bytes that each PE reads
	Time      unit.Time `json:"time_ps"`   // from the first descriptor to the last byte
	GBs       float64   `json:"gb_per_s"`  // all bytes over that time
	Published float64   `json:"published_ns,omitempty"`
	Deviation float64   `json:"deviation_percent,omitempty"`
	Note      string    `json:"note,omitempty"` // why it differs from the published figure, where that is known
}

// probe is a case: PE readers[i] reads the HBM slice of PE slices[i].
type probe struct {
	name, placement string
	readers, slices []int
	published       float64 // ns at 16 KiB on the default machine; 0 if unpublished
	note            string  // on the difference to published
}

// probeBytes is the size at which figures for the default machine are published.
const probeBytes = 16 << 10

// Run measures how fast PEs read memory near and far, alone and together. On the
// default machine the rows stand next to the published figures.
func Run(ctx context.Context, s run.Spec) ([]Row, error) {
	x, err := run.Load(s)
	if err != nil {
		return nil, err
	}
	if err := x.Row().Needs(exec.Clock, exec.Trace); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	isDefault := (x.Topology == "" || x.Topology == "ahbm") && len(x.Sets) == 0
	var rows []Row
	for _, p := range probes(x.Machine) {
		t, err := p.time(ctx, x)
		if err != nil {
			return rows, fmt.Errorf("probe %s: %w", p.name, err)
		}
		row := Row{Case: p.name, Placement: p.placement, Bytes: probeBytes, Time: t}
		row.GBs = float64(probeBytes*len(p.readers)) / t.Seconds() / 1e9
		if isDefault && p.published > 0 {
			row.Published = p.published
			row.Deviation = (t.Ns()/p.published - 1) * 100
			row.Note = p.note
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// oneSlice explains why 128 PEs that read one slice take less time here than published.
const oneSlice = "120 PEs behind one connection of 128 GB/s take 15360 ns, near what is published (93 % of a fair share of 144 GB/s); " +
	"here 96 PEs are behind a connection of the cube's east side and 24 behind one of its south side"

// probes returns the cases that fit a machine.
func probes(m *machine.Machine) []probe {
	per, inSIP := m.PEsPerCube(), m.PEsPerCube()*m.CubesPerSIP()
	ps := []probe{{"own slice", "pe0 reads its own slice", []int{0}, []int{0}, 77, ""}}
	for _, k := range []struct {
		readers   []int
		published float64
	}{{[]int{1}, 82}, {[]int{1, 2}, 158}, {[]int{1, 2, 4}, 230}} {
		if k.readers[len(k.readers)-1] < per {
			ps = append(ps, probe{
				fmt.Sprintf("%d on one slice", len(k.readers)), fmt.Sprintf("%s of the cube read pe0's slice", peList(k.readers)),
				k.readers, make([]int, len(k.readers)), k.published, "",
			})
		}
	}
	all := upTo(per)
	if per > 1 {
		ps = append(ps, probe{"cube on one slice", fmt.Sprintf("all %d PEs of the cube read pe0's slice", per), all,
			make([]int, per), published(per == 8, 558), ""})
	}
	if m.CubesPerSIP() > 1 {
		ps = append(ps, probe{"next cube east",
			fmt.Sprintf("PE k of cube 0 reads the slice of PE k of cube 1, %d at once", per), all, shift(all, per),
			published(per == 8, 963), ""})
		r, s := farthest(m)
		ps = append(ps, probe{"farthest cube", fmt.Sprintf("%s reads the slice of %s", m.PEName(r), m.PEName(s)),
			[]int{r}, []int{s}, 573, ""})
		every := upTo(inSIP)
		ps = append(ps, probe{"all own slices", fmt.Sprintf("all %d PEs of a SIP read their own slices", inSIP), every, every, 77, ""})
		ps = append(ps, probe{"SIP on one slice",
			fmt.Sprintf("all %d PEs of a SIP read the slice of %s", inSIP, m.PEName(0)), every, make([]int, inSIP),
			published(inSIP == 128, 15650), oneSlice})
	}
	if m.SIPs() > 1 {
		ps = append(ps, probe{"other SIP", fmt.Sprintf("%s reads the slice of %s", m.PEName(0), m.PEName(inSIP)),
			[]int{0}, []int{inSIP}, 409, ""})
	}
	return ps
}

func published(applies bool, ns float64) float64 {
	if applies {
		return ns
	}
	return 0
}

// farthest returns the pair of a PE in the first cube and one in the last cube of a SIP with the
// longest round trip.
func farthest(m *machine.Machine) (reader, slice int) {
	per := m.PEsPerCube()
	last := (m.CubesPerSIP() - 1) * per
	longest := unit.Time(-1)
	for r := range per {
		for s := last; s < last+per; s++ {
			there, _ := m.Latency(m.Route(nil, m.PE(r), m.HBM(s)))
			back, _ := m.Latency(m.Route(nil, m.HBM(s), m.PE(r)))
			if there+back > longest {
				longest, reader, slice = there+back, r, s
			}
		}
	}
	return reader, slice
}

func upTo(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	return v
}

func shift(v []int, by int) []int {
	w := make([]int, len(v))
	for i := range v {
		w[i] = v[i] + by
	}
	return w
}

func peList(pes []int) string {
	s := "pe"
	for i, p := range pes {
		if i > 0 {
			s += ", pe"
		}
		s += fmt.Sprint(p)
	}
	return s
}

// loads is a sink that keeps the span of all loads.
type loads struct {
	first, last unit.Time
	any         bool
}

func (l *loads) Emit(e *trace.Event) {
	if e.Kind != trace.Load {
		return
	}
	if !l.any {
		l.first, l.any = e.Start, true
	}
	l.first, l.last = min(l.first, e.Start), max(l.last, e.End)
}

// time simulates one case on a machine at rest.
func (p *probe) time(ctx context.Context, x *run.Job) (unit.Time, error) {
	g := launch.Group{PEs: make([]int32, len(p.readers)), Wiring: make([]tl.Wiring, len(p.readers)), PEsPerCube: len(p.readers)}
	for i, r := range p.readers {
		g.PEs[i] = int32(r)
	}
	var span loads
	e, err := x.Open(exec.Setup{Trace: &span})
	if err != nil {
		return 0, err
	}
	defer e.Close()
	_, err = e.Launch(ctx, &launch.Launch{
		Name: p.name, Groups: []launch.Group{g}, Addrs: &mem.Map{}, Scratch: x.Machine.Topology().PE().TCM.Scratch,
		Ring: tl.Ring{Slots: 1, SlotBytes: 8, Space: mem.TCM},
		Kernel: func(c *tl.Context, _ tl.Args) {
			c.Load(c.Ref(mem.At(mem.HBM, p.slices[c.Rank()], 0), tl.Dims(probeBytes/2), dtype.F16))
		},
	})
	return span.last - span.first, err
}
