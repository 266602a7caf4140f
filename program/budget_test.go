package program_test

import (
	"errors"
	"testing"

	_ "kernbench/internal/fewcollections"
	"kernbench/program"
	"kernbench/tl"
)

// TestBudget: what records and places take is limited, whether one kernel is long, or many differ,
// or places do.
func TestBudget(t *testing.T) {
	loads := func(n int) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			for range n {
				c.Free(c.Load(mine(c, a)))
			}
		}
	}
	for _, tt := range []struct {
		name  string
		world int
		k     tl.Kernel
		o     program.Options
		fits  bool
	}{
		{"long", 2, loads(2100), program.Options{Budget: 64 << 10}, false},
		{"short", 2, loads(1000), program.Options{Budget: 64 << 10}, true},
		{"many alike", 500, loads(1000), program.Options{Budget: 128 << 10}, true},
		{"many different", 10, func(c *tl.Context, a tl.Args) { loads(300+c.Rank())(c, a) }, program.Options{Budget: 64 << 10}, false},
		{"few different", 3, func(c *tl.Context, a tl.Args) { loads(300+c.Rank())(c, a) }, program.Options{Budget: 64 << 10}, true},
		{"many ranks", 5000, loads(1), program.Options{Budget: 64 << 10}, false},
		{"addresses", 10, places, program.Options{Budget: 96 << 10, Places: true}, false},
		{"addresses that are not kept", 10, places, program.Options{Budget: 96 << 10}, true},
		{"no lines", 1, loads(1000), program.Options{Budget: 40 << 10}, true},
		{"lines", 1, loads(1000), program.Options{Budget: 40 << 10, Lines: true}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := program.RecordLaunch(t.Context(), ring(tt.world, tt.k), tt.o)
			if errors.Is(err, program.ErrBudget) == tt.fits || (p != nil) != tt.fits {
				t.Errorf("%v, want it to fit: %v", err, tt.fits)
			}
		})
	}
}

// places loads from other places on each rank.
func places(c *tl.Context, a tl.Args) {
	for i := range 800 {
		c.Free(c.Load(mine(c, a).Slice(c.Rank()*i%32, 8)))
	}
}

// TestEndless: a kernel that does not end runs out of the budget, on whichever rank, also where it
// begins as others do.
func TestEndless(t *testing.T) {
	for name, then := range map[string]func(c *tl.Context, a tl.Args){
		"load": func(c *tl.Context, a tl.Args) { c.Load(mine(c, a)) },
		"send": func(c *tl.Context, a tl.Args) { c.SendRef(tl.East, mine(c, a)) },
		"recv": func(c *tl.Context, a tl.Args) { c.Recv(tl.West, tl.Dims(4), a.DType) },
		"post": func(c *tl.Context, a tl.Args) { c.RecvAsync(tl.West, tl.Dims(4), a.DType) },
		"math": func(c *tl.Context, a tl.Args) { c.Full(tl.Dims(4), a.DType, 1) },
	} {
		for _, odd := range []int{0, 2} {
			l := ring(3, func(c *tl.Context, a tl.Args) {
				for i := 0; i < 100 || c.Rank() == odd; i++ {
					then(c, a)
				}
			})
			if _, err := program.RecordLaunch(t.Context(), l,
				program.Options{Own: own, Places: true, Budget: 1 << 20}); !errors.Is(err, program.ErrBudget) {
				t.Errorf("%s, rank %d: %v", name, odd, err)
			}
		}
	}
	l := ring(1, func(c *tl.Context, a tl.Args) {
		for {
			c.Load(mine(c, a))
		}
	})
	if _, err := program.RecordLaunch(t.Context(), l, program.Options{}); !errors.Is(err, program.ErrBudget) {
		t.Errorf("with the usual budget: %v", err)
	}
}
