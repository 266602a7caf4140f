package oplog

import (
	"math"

	"kernbench/tl"
	"kernbench/unit"
)

// Origin is the place and time of an operation, for reports of faults.
type Origin struct {
	Rank, PE int32
	Turn     int32 // number of its collective; 0: a collective that no turn began
	Time     unit.Time
	Line     string // empty unless lines are recorded
	Call     string // the kernel's operation if it differs from the record's, such as put
}

// OriginID numbers the part of an Origin that many records share: all but turn and time.
type OriginID int32

// By is an Origin with its number.
type By struct {
	ID   OriginID
	Turn int32
	Time unit.Time
}

// performer is the shared part of origins that an OriginID denotes.
type performer struct {
	rank, pe   int32
	line, call int32 // in Log.lines
}

// OriginID returns the number of an Origin. It is fast if the rank's last one was the same.
func (l *Log) OriginID(o Origin) OriginID {
	p := performer{rank: o.Rank, pe: o.PE}
	if o.Line != "" {
		p.line = l.lineIndex(o.Line)
	}
	if o.Call != "" {
		p.call = l.lineIndex(o.Call)
	}
	if i := int(o.Rank); i >= 0 && i < len(l.lately) {
		if w := l.lately[i]; l.performers[w] == p {
			return w
		}
	}
	return l.number(p)
}

// mostRanks bounds the ranks for which the last number is cached.
const mostRanks = 1 << 20

func (l *Log) number(p performer) OriginID {
	w, ok := l.originIndex[p]
	if !ok {
		w = OriginID(len(l.performers))
		l.originIndex[p] = w
		l.performers = append(l.performers, p)
	}
	if i := int(p.rank); i >= 0 && i < mostRanks {
		for i >= len(l.lately) {
			l.lately = append(l.lately, 0)
		}
		l.lately[i] = w
	}
	return w
}

// Origin returns the Origin of a By.
func (l *Log) Origin(o By) Origin {
	p := l.performers[o.ID]
	return Origin{Rank: p.rank, PE: p.pe, Turn: o.Turn, Time: o.Time, Line: l.lines[p.line], Call: l.lines[p.call]}
}

func (l *Log) by(o Origin) By { return By{l.OriginID(o), o.Turn, o.Time} }

// anotherValue returns a new value number.
func (l *Log) anotherValue() tl.Value {
	if len(l.refs) == math.MaxUint32 {
		panic("oplog: more than 4294967295 values alive")
	}
	l.refs = append(l.refs, 1)
	return tl.Value(len(l.refs) - 1)
}
