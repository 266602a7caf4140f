package sim

import (
	"fmt"
	"testing"

	"kernbench/des"
	"kernbench/hw/noc"
	"kernbench/hw/pe"
	"kernbench/record/cause"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Every field of a run that holds a point is kept, unless the rank's clock has passed the point.
// Acknowledgements that came before now are not kept either.
func TestFieldsAreKept(t *testing.T) {
	log := cause.NewForgetful(1)
	at := unit.Time(0)
	var points []cause.Point
	next := func() cause.Point {
		at++
		points = append(points, log.Start(at, 0))
		return points[len(points)-1]
	}
	past := log.Start(0, 0)
	b := &because{at: next(), pending: next(), cells: []cause.Point{0, next(), past}, last: next(), home: next(), stored: next(),
		computed: next(), homes: map[int32]cause.Point{3: next(), 4: past, 5: log.Start(2, 0)}}
	x := &run{e: &Executor{q: *des.From(at)}}
	x.e.net = noc.New(&x.e.q, nil, nil, noc.Slot, noc.Sizes{})
	x.e.net.Explain(log)
	x.causing = causing{
		causes: log, heard: next(), last: next(), delayed: map[uint32]cause.Point{7: next()},
		busy: map[*pe.PE]*busy{nil: {units: [pe.MostUnits]cause.Point{next(), next()}, left: [2][]cause.Point{{next()}, {next()}}}},
	}
	x.ranks = []rank{{}, {why: b}}
	x.rings = []ring{{why: &ringCauses{credit: next(), payload: next(), used: []cause.Point{0, next()}, credits: []cause.Point{next()}}}}
	x.batch = &batch{
		gangs: map[*launch.Gang]*gang{nil: {last: next()}}, events: map[*launch.Event]*event{nil: {cause: next()}},
		queues: map[int32][]*queue{0: {{engine: &commEngine{issued: next()}}}},
	}
	x.forgetCauses()
	for i, p := range points {
		if log.Time(p) != unit.Time(i+1) {
			t.Errorf("point %d of %d is forgotten", i+1, len(points))
		}
	}
	if got := fmt.Sprint(b.cells[2], len(b.homes)); got != "0 1" {
		t.Errorf("cell and peers that the clock has passed: %s", got)
	}
}
