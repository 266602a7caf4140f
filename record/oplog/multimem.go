package oplog

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// LoadReduce records that a switch combines n elements of several memories, in their order, and
// returns the value. Types of 16 bits are combined in f32 and rounded once, others in their own
// type.
func (l *Log) LoadReduce(o Origin, at []mem.Addr, n int, t dtype.Type, by dtype.BinaryOp) tl.Value {
	in := tl.Instr{Op: tl.OpMath, Math: tl.MathBinary, Binary: by, Type: t, N: n, Axis: 1, Inner: 1}
	wide := t == dtype.F16 || t == dtype.BF16
	convert := func(v tl.Value, from, to dtype.Type) tl.Value {
		c := tl.Instr{Op: tl.OpMath, Math: tl.MathConvert, Type: to, N: n, Outer: int(from)}
		made := l.MathOf(o, &c, Operand{Value: v}, Operand{}, Operand{})
		l.Release(v)
		return made
	}
	if wide {
		in.Type = dtype.F32
	}
	var sum tl.Value
	for i, a := range at {
		v := l.NewValue()
		l.Load(o, v, 0, n, n, t, a)
		if wide {
			v = convert(v, t, dtype.F32)
		}
		if i == 0 {
			sum = v
			continue
		}
		next := l.MathOf(o, &in, Operand{Value: sum}, Operand{Value: v}, Operand{})
		l.Release(sum)
		l.Release(v)
		sum = next
	}
	if wide {
		sum = convert(sum, dtype.F32, t)
	}
	return sum
}
