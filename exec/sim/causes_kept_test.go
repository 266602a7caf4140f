package sim

import (
	"fmt"
	"reflect"
	"testing"

	"kernbench/des"
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/hw/pe"
	"kernbench/record/cause"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Every field of a run that holds a point is kept, unless the rank's clock or the time has passed
// the point.
func TestFieldsAreKept(t *testing.T) {
	const clock, now = 3, 10 // of a rank that is parked, and of the run
	log := cause.NewPruned(1)
	at := unit.Time(now)
	var points []cause.Point
	next := func() cause.Point {
		at++
		points = append(points, log.Start(at, 0))
		return points[len(points)-1]
	}
	own, pending := log.Start(clock, 0), log.Start(clock, 0)
	early, late, present := log.Start(clock, 0), log.Start(now-1, 0), log.Start(now, 0) // past are the first two
	b := &rankCauses{at: own, pending: pending, cells: []cause.Point{0, next(), early, late, present}, last: next(), acked: next(),
		stored: next(), computed: next(), acks: map[int32]cause.Point{3: next(), 4: early, 5: late, 6: present}}
	past := &rankCauses{at: own, last: early, acked: late, stored: early, computed: late}
	x := &run{e: &Executor{q: *des.From(now)}}
	x.e.net = noc.New(&x.e.q, nil, nil, noc.Slot, noc.Sizes{})
	x.e.net.Explain(log)
	engines := &busy{units: [pe.MostUnits]cause.Point{next(), next(), late, present},
		left: [2][]cause.Point{{next(), late}, {early, next(), present}}}
	x.causing = causing{
		causes: log, current: next(), last: next(), delayed: map[uint32]cause.Point{7: next()}, busy: map[*pe.PE]*busy{nil: engines},
	}
	x.ranks = []rank{{}, {causes: b}, {causes: past}}
	credits := []*ringCauses{{credit: next(), payload: next(), used: []cause.Point{0, next()}, credits: []cause.Point{next()}},
		{credit: present, payload: present}, {credit: late, payload: late}}
	x.rings = []ring{{causes: credits[0]}, {causes: credits[1]}, {causes: credits[2]}}
	x.batch = &batch{
		gangs: map[*launch.Gang]*gang{nil: {last: next()}}, events: map[*launch.Event]*event{nil: {cause: next()}},
		queues: map[int32][]*queue{0: {{engine: &commEngine{issued: next()}}}},
	}
	x.pruneCauses()
	for i, p := range points {
		if log.Time(p) != unit.Time(now+i+1) {
			t.Errorf("point %d of %d is forgotten", i+1, len(points))
		}
	}
	if log.Time(own) != clock || log.Time(pending) != clock || log.Time(present) != now {
		t.Error("what the clock is at, a wake-up or the present is forgotten")
	}
	for _, c := range []struct{ what, got, want any }{
		{"cells", b.cells[2:], []cause.Point{0, 0, present}},
		{"peers", b.acks, map[int32]cause.Point{3: b.acks[3], 6: present}},
		{"a rank", *past, rankCauses{at: own}},
		{"units", engines.units[2:], []cause.Point{0, 0}},
		{"queues", fmt.Sprint(engines.left), fmt.Sprint([2][]cause.Point{{engines.left[0][0]}, {engines.left[1][0], present}})},
		{"credits", [2]cause.Point{credits[1].credit, credits[2].credit}, [2]cause.Point{present, 0}},
		{"payloads", [2]cause.Point{credits[1].payload, credits[2].payload}, [2]cause.Point{}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%v: points that have passed are kept: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// A use of a slot is kept until the credit of the slot leaves.
func TestReturnedSlotsKeepNothing(t *testing.T) {
	log := cause.New()
	sizing := ipcq.NewSizing(2)
	used := []cause.Point{log.Start(5, 0), log.Start(7, 0)}
	q := &ring{Ring: ipcq.Ring{Returned: 1}, sizing: &sizing, credit: 3, causes: &ringCauses{used: used}}
	(&run{causing: causing{causes: log}}).returns(q, 5)
	if used[0] != 0 || log.Time(used[1]) != 7 || len(q.causes.credits) != 1 || log.Time(q.causes.credits[0]) != 8 {
		t.Errorf("uses %v, credits %v", used, q.causes.credits)
	}
}
