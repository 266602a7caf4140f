package race_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// Tiles that are kept by columns are judged as their rows are, whatever else touches the rows.
func TestTiles(tt *testing.T) {
	const ranks, rows = 3, 4
	made, left := 0, 0 // sheets
	rapid.Check(tt, func(t *rapid.T) {
		type step struct{ do, rank, band, col, cols, extra int }
		pitch := rapid.SampledFrom([]int64{4096, 4104, 16384}).Draw(t, "pitch")
		base := rapid.SampledFrom([]int64{0, 1 << 14, 5000}).Draw(t, "base")
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11}).Draw(t, "do"),
				rapid.IntRange(0, ranks-1).Draw(t, "rank"), rapid.IntRange(0, 1).Draw(t, "band"),
				rapid.IntRange(0, 3).Draw(t, "col"), rapid.IntRange(1, 2).Draw(t, "cols"), rapid.IntRange(0, 3).Draw(t, "extra"),
			}
		}), 1, 25).Draw(t, "steps")
		usual, plain, _ := both(race.Options{Order: mem.PutSignal, Most: 1000}, func(d *race.Detector) bool {
			h := newAccount(tt, d, ranks)
			for i, s := range steps {
				h.line = fmt.Sprintf("kernel.go:%d", i)
				w := pitch / 8
				first := base + int64(s.band)*rows*pitch
				tile := at(0, first+int64(s.col)*w, int64(s.cols)*w)
				tile.rows, tile.pitch = rows, pitch
				switch s.do {
				case 0:
					h.read(s.rank, tile)
				case 1:
					h.store(s.rank, tile)
				case 2: // a row, or a part of one
					h.read(s.rank, at(0, first+int64(s.extra)*pitch, int64(s.cols)*w))
				case 3:
					h.store(s.rank, at(0, first+int64(s.extra)*pitch+int64(s.col)*w, 8))
				case 4: // all rows
					h.store(s.rank, at(0, first, rows*pitch))
				case 5: // both bands, and more
					h.read(s.rank, at(0, max(0, base-8), 2*rows*pitch+16))
				case 6:
					h.store(s.rank, at(0, max(0, base-8), 2*rows*pitch+16))
				case 7: // a tile of other rows
					switch s.extra {
					case 0:
						tile.lo += pitch
					case 1:
						tile.rows++
					default:
						tile.pitch += 8
					}
					h.read(s.rank, tile)
				case 8:
					h.putNBI(s.rank, tile, at(s.rank, 1<<20, 8))
				case 9:
					h.fence(s.rank)
					h.notify(s.rank, wordOf((s.rank+1)%ranks, 0), 1)
				case 10:
					if h.values[wordOf(s.rank, 0)] > 0 {
						h.wait(s.rank, 0, tl.GE, h.values[wordOf(s.rank, 0)])
					}
				case 11:
					h.barrier()
				}
				if n := d.Sheets(); n > 0 {
					made++
					left = max(left, n)
				}
			}
			h.end()
			if events, clocks := d.Live(); events != 0 || d.Sheets() != 0 {
				t.Fatalf("%d events, %d clocks and %d sheets at rest", events, clocks, d.Sheets())
			}
			return true
		})
		if !slices.Equal(usual, plain) {
			t.Fatalf("%d bytes from %d on, %v:\n%q\nby rows:\n%q", pitch, base, steps, usual, plain)
		}
	})
	if made == 0 || left < 2 {
		tt.Errorf("sheets after %d steps, %d at a time", made, left)
	}
}

// A matrix that was written as a whole and is read tile by tile has one stretch for each tile, and
// none for rows.
func TestTilesNeedNoRows(t *testing.T) {
	const rows, pitch, tiles = 64, 4096, 32
	for _, base := range []int64{0, 1000} { // the rows may begin anywhere in a page
		judged(t, 2, mem.PutSignal, func(h *account) {
			h.store(0, at(0, base, 4*rows*pitch))
			h.barrier()
			for band := range int64(4) {
				for i := range int64(tiles) {
					tile := at(0, base+band*rows*pitch+i*pitch/tiles, pitch/tiles)
					tile.rows, tile.pitch = rows, pitch
					h.read(1, tile)
				}
			}
			if n := h.d.Sheets(); n != 4 {
				t.Errorf("%d sheets from %d on, want 4", n, base)
			}
		})
	}
}

// A tile with more rows than a sheet, or with rows further apart, is no tile of the sheet.
func TestTilesOfOtherRows(t *testing.T) {
	const rows, pitch, w = 4, 4096, 512
	for _, c := range []struct {
		name   string
		tile   span
		beyond int64 // what only this tile has
	}{
		{"more rows", span{lo: 0, n: w, rows: rows + 1, pitch: pitch}, rows * pitch},
		{"rows further apart", span{lo: 0, n: w, rows: rows, pitch: pitch + 8}, 3*pitch + w + 8},
	} {
		r := judged(t, 2, mem.PutSignal, func(h *account) {
			h.read(0, span{lo: w, n: w, rows: rows, pitch: pitch})
			h.barrier()
			h.read(0, c.tile)
			h.store(1, at(0, c.beyond, 8))
		})
		if got := kinds(r); !slices.Equal(got, []string{"race load store"}) {
			t.Errorf("%s: %q, want one race", c.name, got)
		}
	}
}

// A tile of a packet is known row by row: each row has lines of its own.
func TestTilesOfPackets(t *testing.T) {
	const rows, pitch, w = 4, 4096, 512
	tile := span{rank: 1, lo: 0, n: w, rows: rows, pitch: pitch}
	for _, sheet := range []bool{false, true} {
		r := judged(t, 2, mem.PutSignal, func(h *account) {
			if sheet { // before the packet comes
				h.read(1, tile)
				h.barrier()
			}
			flag := history.Record{Lines: tl.LineLL, Update: tl.SignalSet, Value: 1, Word: wordOf(1, 0), Type: mem.Int64, Carry: true}
			flag.Op = h.putOf(0, "put_ll", at(1, 0, rows*pitch), span{}, flag)
			flag.Kind = history.Notify
			h.update(0, "put_ll", flag.Word, flag)
			h.add(1, "wait_lines", history.Record{
				Kind: history.Wait, Word: flag.Word, Type: mem.Int64, Cmp: tl.EQ, Value: 1, Seen: 1, Lines: tl.LineLL, Count: pitch / 4,
			})
			h.read(1, tile)
		})
		if got := kinds(r); !slices.Equal(got, []string{"race put_ll load"}) {
			t.Errorf("%q, want one race with the rows that were not awaited", got)
		}
	}
}

// Rows with different accesses stay rows, so that a tile over all of them meets each access.
func TestTilesOverDifferentRows(t *testing.T) {
	const rows, pitch, w = 8, 4096, 512
	for other := range 2 { // the half of the rows that another rank stored
		r := judged(t, 2, mem.PutSignal, func(h *account) {
			for half := range 2 {
				rank := 0
				if half == other {
					rank = 1
				}
				h.store(rank, at(0, int64(half)*rows/2*pitch, rows/2*pitch))
			}
			h.read(0, span{n: w, rows: rows, pitch: pitch})
		})
		if got := kinds(r); !slices.Equal(got, []string{"race store load"}) {
			t.Errorf("half %d: %q, want one race", other, got)
		}
	}
}
