package kerneltest

import (
	"errors"
	"fmt"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// load puts the inputs into the ranks' memory, as their contributions.
func (cfg *Config) load(log *oplog.Log, l *launch.Launch, o *Outcome) error {
	a := &l.Groups[0].Args
	o.In = make([][]byte, cfg.World)
	for r, at := range a.Shards {
		data := make([]byte, a.NElem*a.DType.Size())
		o.In[r] = data
		if a.NElem == 0 {
			continue
		}
		for i, v := range cfg.Inputs[r] {
			dtype.Set(a.DType, data, i, v)
		}
		if err := log.Map(at, a.DType, a.NElem); err != nil {
			return err
		}
		if err := log.Write(at, a.DType, data); err != nil {
			return err
		}
		if err := log.Label(r, 0, at, a.DType, a.NElem); err != nil {
			return err
		}
	}
	for r, at := range a.Outs {
		if n := a.OutElems[r]; n > 0 {
			if err := log.Map(at, a.DType, n); err != nil {
				return err
			}
		}
	}
	if cfg.Layout == nil {
		return nil
	}
	o.Window = a.Windows[0]
	return zero(log, o.Window)
}

// zero fills the data of a window with zeros, except for staging memory.
func zero(log *oplog.Log, w *mem.Window) error {
	for r := range w.Team.Size() {
		for i := range w.Layout.Parts {
			p := &w.Layout.Parts[i]
			if p.Word != mem.NoWord {
				continue
			}
			at := w.Addr(r, p.Off)
			if err := log.Map(at, p.Type, p.Count); err != nil {
				return err
			}
			if p.Staging {
				continue // it holds nothing until a kernel writes it
			}
			if err := log.Write(at, p.Type, make([]byte, p.Bytes())); err != nil {
				return err
			}
		}
	}
	return nil
}

// read returns the contents of the ranks' memory.
func (cfg *Config) read(log *oplog.Log, l *launch.Launch, o *Outcome) error {
	a := &l.Groups[0].Args
	o.Outputs = make([][]float64, cfg.World)
	o.Out = make([][]byte, cfg.World)
	o.Prov = make([]collective.Prov, cfg.World)
	for r := range a.Shards {
		at, n := a.Shards[r], a.NElem
		if a.Outs != nil {
			at, n = a.Outs[r], a.OutElems[r]
		}
		o.Outputs[r] = make([]float64, n)
		if n == 0 {
			continue
		}
		data, prov, err := log.View(at, a.DType, n)
		if err != nil {
			return err
		}
		for i := range o.Outputs[r] {
			o.Outputs[r][i] = dtype.At(a.DType, data, i)
		}
		o.Out[r], o.Prov[r] = data, prov
	}
	return nil
}

// nameMemory adds to a fault of an address the input, result or window there, or before it, with
// its range.
func nameMemory(err error, a *tl.Args) {
	e, ok := errors.AsType[*fault.BadAddress](err)
	if !ok {
		return
	}
	var all []mem.Named
	size := int64(a.DType.Size())
	for r, at := range a.Shards {
		all = append(all, mem.Named{Name: fmt.Sprintf("the input of rank %d", r), From: at, Bytes: int64(a.NElem) * size})
	}
	for r, at := range a.Outs {
		all = append(all, mem.Named{Name: fmt.Sprintf("the result of rank %d", r), From: at, Bytes: int64(a.OutElems[r]) * size})
	}
	for _, w := range a.Windows {
		for r := range w.Team.Size() {
			all = append(all, mem.Named{Name: fmt.Sprintf("the window of rank %d", r), From: w.Addr(r, 0), Bytes: w.Layout.Bytes})
		}
	}
	e.Memory = mem.Describe(mem.Addr(e.At), all)
}
