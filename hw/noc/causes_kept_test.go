package noc

import (
	"testing"

	"kernbench/record/cause"
	"kernbench/unit"
)

// Every point and path that the fabric has is kept when the log forgets.
func TestKeepCauses(t *testing.T) {
	log := cause.NewForgetful(1)
	n := New(nil, nil, nil, Slot, Sizes{})
	n.Explain(log)
	var all []moment
	next := func() moment {
		i := len(all) + 1
		all = append(all, moment{log.Start(unit.Time(i), 0), log.Extend(0, i)})
		return all[i-1]
	}
	c := n.causes
	c.head, c.tail, c.busy = []moment{{}, next()}, []moment{next()}, []moment{next()}
	c.room[3] = []vacated{{by: next()}}
	c.latest[line{}] = next()
	c.heard = next().at
	log.Forget(n.KeepCauses)
	for i, m := range all {
		if log.Time(m.at) != unit.Time(i+1) {
			t.Errorf("point %d of %d is forgotten", i+1, len(all))
		}
		if links := log.Links(cause.At(cause.Path, int(m.path))); m.at != c.heard && (len(links) != 1 || links[0] != i+1) {
			t.Errorf("path %d is forgotten: %v", i+1, links)
		}
	}
}
