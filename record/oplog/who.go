package oplog

import (
	"math"

	"kernbench/tl"
	"kernbench/unit"
)

// Origin says who performed an operation, for the places of faults.
type Origin struct {
	Rank, PE int32
	Turn     int32 // number of the collective that it is part of, 0: none of those that turns began
	Time     unit.Time
	Line     string // empty unless lines are recorded
	Call     string // the kernel's operation, where that is not what the record is: put
}

// Who is the part of an Origin that many records share, by number: all but turn and time.
type Who int32

// By is an Origin whose Who is known.
type By struct {
	Who  Who
	Turn int32
	Time unit.Time
}

// performer is what a Who stands for.
type performer struct {
	rank, pe   int32
	line, call int32 // in Log.lines
}

// Who numbers an Origin. It is quick when the rank's last one was the same.
func (l *Log) Who(o Origin) Who {
	p := performer{rank: o.Rank, pe: o.PE}
	if o.Line != "" {
		p.line = l.lineIndex(o.Line)
	}
	if o.Call != "" {
		p.call = l.lineIndex(o.Call)
	}
	if i := int(o.Rank); i >= 0 && i < len(l.lately) {
		if w := l.lately[i]; l.whos[w] == p {
			return w
		}
	}
	return l.number(p)
}

// mostRanks is up to which rank the last number is kept at hand.
const mostRanks = 1 << 20

func (l *Log) number(p performer) Who {
	w, ok := l.whoIndex[p]
	if !ok {
		w = Who(len(l.whos))
		l.whoIndex[p] = w
		l.whos = append(l.whos, p)
	}
	if i := int(p.rank); i >= 0 && i < mostRanks {
		for i >= len(l.lately) {
			l.lately = append(l.lately, 0)
		}
		l.lately[i] = w
	}
	return w
}

// Origin is what a By stands for.
func (l *Log) Origin(o By) Origin {
	p := l.whos[o.Who]
	return Origin{Rank: p.rank, PE: p.pe, Turn: o.Turn, Time: o.Time, Line: l.lines[p.line], Call: l.lines[p.call]}
}

func (l *Log) by(o Origin) By { return By{l.Who(o), o.Turn, o.Time} }

// anotherValue is a value beyond those that have been.
func (l *Log) anotherValue() tl.Value {
	if len(l.refs) == math.MaxUint32 {
		panic("oplog: more than 4294967295 values alive")
	}
	l.refs = append(l.refs, 1)
	return tl.Value(len(l.refs) - 1)
}
