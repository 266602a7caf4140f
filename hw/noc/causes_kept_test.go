package noc

import (
	"testing"

	"kernbench/des"
	"kernbench/record/cause"
	"kernbench/unit"
)

// Every point and path that the fabric has is kept when the log forgets. Those of links and of
// buffer space that have been free since an earlier time are not kept.
func TestKeepCauses(t *testing.T) {
	log := cause.NewPruned(1)
	n := New(des.From(50), nil, nil, Slot, Sizes{})
	n.Explain(log)
	var all []moment
	next := func() moment {
		i := len(all) + 1
		all = append(all, moment{log.Start(unit.Time(i), 0), log.Extend(0, i)})
		return all[i-1]
	}
	c := n.causes
	n.links = []link{{freeAt: 50}, {freeAt: 49}}
	past := moment{at: log.Start(1000, 0)}
	c.head, c.tail, c.busy = []moment{{}, next()}, []moment{next()}, []moment{next(), past}
	c.released[3], c.released[4] = []vacated{{49, past}, {50, next()}}, []vacated{{49, past}}
	c.latest[sourceQueue{}] = next()
	c.sinkCause = next().at
	log.Prune(n.KeepCauses)
	if len(c.released) != 1 || len(c.released[3]) != 1 || c.busy[1] != (moment{}) || log.Start(1001, 0) != past.at {
		t.Errorf("what is past is kept: %v, %v", c.released, c.busy)
	}
	for i, m := range all {
		if log.Time(m.at) != unit.Time(i+1) {
			t.Errorf("point %d of %d is forgotten", i+1, len(all))
		}
		if links := log.Links(cause.At(cause.Path, int(m.path))); m.at != c.sinkCause && (len(links) != 1 || links[0] != i+1) {
			t.Errorf("path %d is forgotten: %v", i+1, links)
		}
	}
}
