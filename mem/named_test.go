package mem_test

import (
	"testing"

	"kernbench/mem"
)

func TestDescribe(t *testing.T) {
	hbm := func(pe int, offset int64) mem.Addr { return mem.At(mem.HBM, pe, offset) }
	ranges := []mem.Named{{"b", hbm(1, 64), 16}, {"a", hbm(1, 0), 32}, {"nothing", hbm(1, 128), 0}, {"far", hbm(2, 0), 8}, {"v", 256, 4}}
	for a, want := range map[mem.Addr]string{
		hbm(1, 0):              "a has 32 bytes from hbm[1]:0x0 on",
		hbm(1, 31):             "a has 32 bytes from hbm[1]:0x0 on",
		hbm(1, 32):             "the last memory before it is a, with 32 bytes from hbm[1]:0x0 on",
		hbm(1, 79):             "b has 16 bytes from hbm[1]:0x40 on",
		hbm(1, 200):            "the last memory before it is b, with 16 bytes from hbm[1]:0x40 on",
		hbm(0, 64):             "",
		hbm(3, 0):              "",
		mem.At(mem.TCM, 1, 64): "",
		255:                    "",
		259:                    "v has 4 bytes from va:0x100 on",
	} {
		if got := mem.Describe(a, ranges); got != want {
			t.Errorf("%v: %q, want %q", a, got, want)
		}
	}
}
