package race_test

import (
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"
)

// A kernel that goes round keeps few receipts.
func TestReceiptsOfRounds(t *testing.T) {
	most := 0
	report, passes := judgedAs(t, 40, mem.PutSignal, func(h *account) {
		var open []uint64
		for i := range 1000 {
			h.putSignal(0, at(1, 64*int64(i%4), 8), at(0, 0, 8), wordOf(1, i), 1)
			h.wait(1, i, tl.GE, 1)
			h.read(1, at(1, 64*int64(i%4), 8))
			h.read(1, at(1, 1024+64*int64(i%8), 8))
			open = append(open, h.load(1, at(1, 2048+64*int64(i), 8)))
			h.store(1, at(1, 2048+64*int64(i), 8))
			if len(open) == 5 {
				h.use(1, open[0])
				open = open[1:]
			}
			h.notify(1, wordOf(0, i), 1)
			h.wait(0, i, tl.GE, 1)
			most = max(most, h.d.Receipts())
		}
	}, (*race.Detector).TidyReceipts)
	if most > 64 || report.Total > 0 || passes != 1 {
		t.Errorf("up to %d receipts for 12 stretches and 5 loads; %d hazards in %d passes", most, report.Total, passes)
	}
}

// Loads whose results no rank uses leave no receipts.
func TestReceiptsOfUnusedLoads(t *testing.T) {
	most := 0
	judgedAs(t, 40, mem.PutSignal, func(h *account) {
		for i := range 2000 {
			h.load(1, at(1, 64*int64(i%4), 8))
			h.notify(1, wordOf(0, i), 1)
			h.wait(0, i, tl.GE, 1)
			most = max(most, h.d.Receipts())
		}
	}, (*race.Detector).TidyReceipts)
	if most > 64 {
		t.Errorf("up to %d receipts for 4 stretches", most)
	}
}
