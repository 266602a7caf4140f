package sim

import (
	"slices"

	"kernbench/fault"
	"kernbench/tl"
)

// voice is the kernel of a rank, run for its addresses. It has the script of rank 0 at hand, and is run
// again without from where it strays: then it is the Core of what it does, and finds what is wrong.
type voice struct {
	*choir
	rank  int
	read  tl.Reading
	ctx   *tl.Context
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	again int // lines that are known from before it strayed
	err   error
}

// sing runs the kernel to its end.
func (v *voice) sing(yield func(struct{}) bool) {
	v.yield = yield
	s := v.e.setup(v.launch, v.group, v.rank, v)
	s.Reading = &v.read
	if n := len(v.idle); n > 0 {
		v.ctx, v.choir.idle = v.idle[n-1], v.idle[:n-1]
		v.ctx.Reset(s)
	} else {
		v.ctx = tl.NewContext(s)
	}
	abandoned, err := v.ctx.Run(v.launch.Kernel, v.group.Args)
	if v.read.Strayed {
		s.Reading, v.again = nil, v.read.Next
		v.ctx.Reset(s)
		abandoned, err = v.ctx.Run(v.launch.Kernel, v.group.Args)
	}
	v.choir.idle, v.ctx = append(v.idle, v.ctx), nil
	if v.err == nil {
		if v.err = err; abandoned {
			v.err = v.unlike("it gives up")
		}
	}
}

// wait waits until the next part is asked for.
func (v *voice) wait() {
	if !v.yield(struct{}{}) {
		v.ctx.Abandon()
	}
}

// Do notes where an instruction is.
func (v *voice) Do(in *tl.Instr) {
	if !v.read.Strayed {
		v.read.Stray(v.ctx) // it is none of those that are read
	}
	if in.Op == tl.OpRecv {
		got(in)
	}
	if v.again > 0 {
		v.again--
		return
	}
	for v.read.Next == v.read.Until {
		v.wait()
	}
	b := v.lines[v.read.Next]
	if !b.is(in) {
		v.err = v.unlike("it goes on otherwise than rank 0")
		v.ctx.Abandon()
	}
	if in.AOff != b.aOff {
		v.cut(v.read.Next, false, in.AOff)
	}
	if in.BOff != b.bOff {
		v.cut(v.read.Next, true, in.BOff)
	}
	if b.accesses() {
		v.at[v.read.Place] = in.Addr
		v.read.Place += v.stride
	}
	v.read.Next++
}

// cut notes that an operand begins elsewhere in its tensor than that of rank 0.
func (v *voice) cut(line int, second bool, off int32) {
	o := cut{line, second}
	all := v.cuts[o]
	if all == nil {
		first := v.lines[line].aOff
		if second {
			first = v.lines[line].bOff
		}
		all = slices.Repeat([]int32{first}, len(v.voices))
		v.cuts[o] = all
	}
	all[v.rank] = off
}

// unlike says that a kernel is not what its launch says.
func (v *voice) unlike(how string) error {
	pe := v.group.PEs[v.rank]
	return &fault.Misuse{
		Place:  fault.Place{Rank: v.rank, PE: v.e.m.PEName(int(pe)), Op: v.launch.Name},
		Reason: "the launch says that its ranks are alike: " + how,
	}
}
