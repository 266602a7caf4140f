package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/tl"
)

// tasks is the common part of the programs of the task API. It has a group of all devices, a tiling
// of one operation, and kernels that run on a few cores of each device.
type tasks struct {
	h      *Host
	name   string
	pes    []int32
	comm   *hccl.Comm
	tiling *hccl.Tiling
	offset int // of the operation's tiling
	typ    hccl.DataType
	op     hccl.ReduceOp
	cores  hccl.Cores
}

// ErrDType is wrapped by errors about an element type that a program does not support.
var ErrDType = errors.New("element type not supported")

// algOption chooses the algorithm of an operation.
func algOption(op hccl.OpType) Option {
	var words []string
	for _, s := range hccl.KnownAlgConfigs() {
		if levels, ok := strings.CutPrefix(s, op.String()+"="); ok {
			words = append(words, levels)
		}
	}
	return Option{Name: "alg", Kind: Word, Words: words, Default: words[0], Help: "algorithm string of the tiling, without Op="}
}

// alg returns the whole algorithm string that was chosen.
func (h *Host) alg(op hccl.OpType) string { return op.String() + "=" + h.Word("alg") }

// aivOption is the number of vector cores.
var aivOption = Option{Name: "aiv", Kind: Number, Default: "2", Min: 1, Max: 65536,
	Help: "AIV cores of each device, at most pe.programs; all make the calls, and the first posts the tasks"}

// tasks makes a group of the chosen devices and a tiling by the option alg, which change may
// change further.
func (h *Host) tasks(name string, op hccl.OpType, cores hccl.Cores, change func(*hccl.CcTiling)) (*tasks, error) {
	t := &tasks{h: h, name: name, pes: h.Devices(), cores: cores, tiling: hccl.NewTiling()}
	var ok bool
	if n := h.Device.Programs(); cores.AIV > n {
		return nil, fmt.Errorf("--aiv %d: want 1 to %d, the cores that a PE holds (pe.programs)", cores.AIV, n)
	}
	if t.typ, ok = typeOf(h.DType); !ok {
		return nil, fmt.Errorf("--dtype %v: tasks have no such elements", h.DType)
	}
	if op.Reduces() && !t.typ.Reducible() {
		return nil, fmt.Errorf("--dtype %v: %v combines f32, f16, bf16, i8, i16 and i32 only: %w", h.DType, op, ErrDType)
	}
	if t.op, ok = opOf(h.Op); !ok {
		return nil, fmt.Errorf("--op %v: tasks combine by sum, max and min", h.Op)
	}
	cc := hccl.NewCcTiling("world", op, h.alg(op))
	if change != nil {
		change(cc)
	}
	t.tiling.AddInit()
	t.offset, _ = t.tiling.AddCc(cc)
	if err := t.tiling.Err(); err != nil {
		return nil, err
	}
	var err error
	t.comm, err = hccl.NewComm(h.Device, "world", t.pes, hccl.Options{})
	return t, err
}

// typeOf returns the type of the task API for elements of a type.
func typeOf(t dtype.Type) (hccl.DataType, bool) {
	for _, d := range hccl.DataTypes() {
		if c, ok := d.Carrier(); ok && c == t {
			return d, true
		}
	}
	return 0, false
}

// opOf returns the operation of the task API.
func opOf(op tl.ReduceOp) (hccl.ReduceOp, bool) {
	for _, o := range []hccl.ReduceOp{hccl.ReduceSum, hccl.ReduceMax, hccl.ReduceMin} {
		if o.TL() == op {
			return o, true
		}
	}
	return 0, false
}

// launch runs a kernel on all devices. Every core that calls the API runs calls with an object that
// is ready. When all of them have waited, the object is finalised.
func (t *tasks) launch(ctx context.Context, calls func(k *hccl.Kernel, o *hccl.Hccl), buffers ...*Vector) (*device.Launched, error) {
	l := hccl.Launch{Name: t.name, Cores: t.cores, Comms: []*hccl.Comm{t.comm}, Tiling: t.tiling}
	for _, b := range buffers {
		l.Buffers = append(l.Buffers, b.tensors)
	}
	caller := hccl.AIV
	if t.cores.AIV == 0 {
		caller = hccl.AIC
	}
	l.Kernel = func(k *hccl.Kernel) {
		if k.CoreType() != caller {
			return
		}
		o := k.New(hccl.Config{})
		o.InitV2(k.HcclContext(0), k.Tiling())
		if o.SetCcTilingV2(t.offset) != hccl.Success {
			return
		}
		calls(k, o)
		if caller == hccl.AIV {
			k.SyncAll(hccl.AIVOnly)
		}
		o.Finalize()
	}
	out, err := l.Run(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range out.Warnings {
		t.h.Report("%v", w)
	}
	return out.Launched, nil
}

// took returns a launch's time for reports, "-" without a clock.
func took(l *device.Launched) string {
	if l.Result.Duration() == 0 {
		return "-"
	}
	return l.Result.Duration().String()
}

// agree compares the contents of two buffers, exactly. It checks nothing where results may be
// rounded in different orders.
func (t *tasks) agree(what string, got, want *Vector) error {
	if t.h.Input != nil && t.h.program.Combines && t.h.DType.IsFloat() {
		return nil
	}
	for r := range t.pes {
		if err := got.Expect(fmt.Sprintf("%s, rank %d", what, r), r, func() []float64 {
			v, err := want.Read(r)
			if err != nil {
				return nil
			}
			return v
		}); err != nil {
			return err
		}
	}
	return nil
}

func (t *tasks) free(buffers ...*Vector) error {
	errs := []error{t.comm.Free()}
	for _, b := range slices.Backward(buffers) {
		errs = append(errs, b.Free())
	}
	return errors.Join(errs...)
}

// contribute fills a vector with contributions: as chosen, else exact.
func (t *tasks) contribute(v *Vector) error {
	if t.h.Input != nil {
		in, err := t.h.inputs(len(t.pes), v.n)
		if err != nil {
			return err
		}
		return v.contribute(in)
	}
	if !t.h.Device.HasData() {
		return nil
	}
	rank := 0
	for _, x := range v.tensors {
		var values []float64
		for range x.Shards() {
			values = append(values, t.exact(rank, v.n)...)
			rank++
		}
		if err := x.CopyIn(values); err != nil {
			return err
		}
	}
	return nil
}

// exact returns a rank's n contributions: whole numbers so small that their combination is exact in
// any order.
func (t *tasks) exact(rank, n int) []float64 {
	most := 3
	if float64(most*len(t.pes)) > exactTo(t.h.DType) {
		most = 1
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = float64((3*i+i/7+5*rank+int(t.h.Seed%64))%(2*most+1) - most)
	}
	return v
}
