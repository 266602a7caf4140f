package hccl

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSettersTakeAndRefuse(t *testing.T) {
	long := strings.Repeat("x", 128)
	for _, tt := range []struct {
		name string
		set  func(c *CcTiling) int
		rule Rule // "": it is taken
		want string
	}{
		{"group name", func(c *CcTiling) int { return c.SetGroupName(long) }, "", ""},
		{"long group name", func(c *CcTiling) int { return c.SetGroupName(long + "x") }, BadGroupName,
			`has 129 bytes: 1 to 128 fit (returned 1)`},
		{"no group name", func(c *CcTiling) int { return c.SetGroupName("") }, BadGroupName,
			`hccl: CcTiling.SetGroupName: the name "" has 0 bytes`},
		{"operation", func(c *CcTiling) int { return c.SetOpType(OpAlltoAll) }, "", ""},
		{"no operation", func(c *CcTiling) int { return c.SetOpType(3) }, BadSetting,
			"there is no operation 3: want one of AllReduce (2), AllGather (6)"},
		{"any algorithm string", func(c *CcTiling) int { return c.SetAlgConfig(long) }, "", ""},
		{"long algorithm string", func(c *CcTiling) int { return c.SetAlgConfig(long + "x") }, BadAlgorithm, "128 bytes fit"},
		{"reduction", func(c *CcTiling) int { return c.SetReduceType(ReduceMax) }, "", ""},
		{"product", func(c *CcTiling) int { return c.SetReduceType(ReduceProd) }, BadOp,
			"tasks do not combine by HCCL_REDUCE_PROD: want one of HCCL_REDUCE_SUM (0), HCCL_REDUCE_MAX (2), HCCL_REDUCE_MIN (3)"},
		{"no reduction", func(c *CcTiling) int { return c.SetReduceType(9) }, BadOp, "HcclReduceOp(9)"},
		{"step size", func(c *CcTiling) int { return c.SetStepSize(255) }, "", ""},
		{"debug mode", func(c *CcTiling) int { return c.SetDebugMode(1) }, "", ""},
		{"unknown debug mode", func(c *CcTiling) int { return c.SetDebugMode(4) }, BadSetting, "CcTiling.SetDebugMode: the value is 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewCcTiling("g", OpAllReduce, DefaultAlgConfig(OpAllReduce))
			before := *c
			status, found := tt.set(c), c.Diagnostics()
			if tt.rule == "" {
				if status != 0 || len(found) > 0 {
					t.Errorf("returned %d, diagnostics %v", status, found)
				}
				return
			}
			if status == 0 || len(found) != 1 || found[0].Rule != tt.rule || !strings.Contains(found[0].String(), tt.want) {
				t.Errorf("returned %d, diagnostics %v; want %s with %s", status, found, tt.rule, tt.want)
			}
			if c.misuse = (Misuse{}); !same(c, &before) {
				t.Errorf("%+v was changed to %+v", before, *c)
			}
		})
	}
}

// same compares settings.
func same(a, b *CcTiling) bool {
	return a.group == b.group && a.op == b.op && a.config == b.config && a.reduce == b.reduce &&
		a.reduceSet == b.reduceSet && a.stepSize == b.stepSize && a.silent == b.silent
}

func TestTilingsLieAtTheirOffsets(t *testing.T) {
	tiling := NewTiling()
	if tiling.Bytes() != 0 || tiling.AddInit() != 0 || tiling.Bytes() != 64 {
		t.Fatalf("an init tiling makes %d bytes: %v", tiling.Bytes(), tiling.Err())
	}
	c := NewCcTiling("g", OpAlltoAllV, DefaultAlgConfig(OpAlltoAllV))
	for i := range 8 {
		c.SetStepSize(uint8(i))
		offset, status := tiling.AddCc(c)
		if offset != 64+280*i || status != 0 {
			t.Errorf("cc tiling %d is at %d (%d): %v", i, offset, status, tiling.Err())
		}
	}
	if offset, status := tiling.AddCc(c); offset != -1 || status == 0 {
		t.Errorf("the ninth is at %d (%d)", offset, status)
	}
	if m, ok := errors.AsType[*Misuse](tiling.Err()); !ok || len(m.Diagnostics) != 1 || m.Diagnostics[0].Rule != TooManyTilings {
		t.Errorf("error %v, want %s", tiling.Err(), TooManyTilings)
	}
	if got, want := tiling.Offsets(), []int{64, 344, 624, 904, 1184, 1464, 1744, 2024}; !slices.Equal(got, want) {
		t.Errorf("Offsets() = %v, want %v", got, want)
	}
	if got := tiling.Bytes(); got != 64+8*280 {
		t.Errorf("%d bytes", got)
	}
	for i, offset := range tiling.Offsets() {
		if got, ok := tiling.At(offset); !ok || got.StepSize() != i {
			t.Errorf("At(%d) = %+v, %v; want the one of step size %d, as it was when it was added", offset, got, ok, i)
		}
	}
	for _, offset := range []int{-1 << 62, -1, 0, 63, 65, 343, 2304, 1 << 62} {
		if got, ok := tiling.At(offset); ok {
			t.Errorf("At(%d) = %+v", offset, got)
		}
	}
}

func TestTilingsKeepWhatWasSet(t *testing.T) {
	c := NewCcTiling("group", OpAllGather, "AllGather=level0:ring")
	c.SetReduceType(ReduceMin)
	c.SetDebugMode(1)
	tiling := NewTiling()
	tiling.AddInit()
	offset, _ := tiling.AddCc(c)
	got, ok := tiling.At(offset)
	if !ok {
		t.Fatal(tiling.Err())
	}
	if got.GroupName() != "group" || got.OpType() != OpAllGather || got.AlgConfig() != (AlgConfig{OpAllGather, "ring", ""}) ||
		got.StepSize() != 0 || !got.CommunicationOff() {
		t.Errorf("%+v", got)
	}
	if op, ok := got.ReduceType(); op != ReduceMin || !ok {
		t.Errorf("the reduction is %v, %v", op, ok)
	}
	if op, ok := NewCcTiling("group", OpAllReduce, "").ReduceType(); ok {
		t.Errorf("nothing was set, and the reduction is %v", op)
	}
	got.SetGroupName("other")
	if again, _ := tiling.At(offset); again.GroupName() != "group" {
		t.Errorf("a copy was changed, and the tiling is for %s", again.GroupName())
	}
	if tiling.Err() != nil {
		t.Error(tiling.Err())
	}
	if c.AlgConfig() != (AlgConfig{}) {
		t.Errorf("one that was not added has %v", c.AlgConfig())
	}
}

func TestTilingsRefuse(t *testing.T) {
	ready := func() *Tiling {
		tiling := NewTiling()
		tiling.AddInit()
		return tiling
	}
	add := func(tiling *Tiling, c *CcTiling) (*Tiling, int) {
		_, status := tiling.AddCc(c)
		return tiling, status
	}
	with := func(op OpType, set func(c *CcTiling)) *CcTiling {
		c := NewCcTiling("g", op, DefaultAlgConfig(op))
		set(c)
		return c
	}
	for _, tt := range []struct {
		name string
		do   func() (*Tiling, int)
		rule Rule
		want string
	}{
		{"cc before init", func() (*Tiling, int) { return add(NewTiling(), with(OpAllReduce, func(*CcTiling) {})) },
			TilingOrder, "AddInit comes first"},
		{"init twice", func() (*Tiling, int) { tiling := ready(); return tiling, tiling.AddInit() }, TilingOrder, "make it once"},
		{"none", func() (*Tiling, int) { return add(ready(), nil) }, BadSetting, "NewCcTiling"},
		{"no group", func() (*Tiling, int) {
			return add(ready(), NewCcTiling("", OpAllReduce, DefaultAlgConfig(OpAllReduce)))
		}, BadGroupName, "the cc tiling has no group"},
		{"no operation", func() (*Tiling, int) {
			return add(ready(),
				NewCcTiling("g", 0, DefaultAlgConfig(OpAllReduce)))
		}, BadSetting, "the cc tiling has no operation"},
		{"no algorithm", func() (*Tiling, int) { return add(ready(), NewCcTiling("g", OpAllReduce, "")) },
			BadAlgorithm, "empty algorithm string"},
		{"unknown algorithm", func() (*Tiling,
			int) {
			return add(ready(), NewCcTiling("g", OpAllReduce, "AllReduce=level0:tree"))
		}, BadAlgorithm, "want one of doublering, ring, fullmesh"},
		{"algorithm of another operation", func() (*Tiling,
			int) {
			return add(ready(), NewCcTiling("g", OpAllReduce, "AllGather=level0:ring"))
		}, BadAlgorithm, `is for AllGather, the operation is AllReduce: its usual one is "AllReduce=level0:doublering"`},
		{"steps of an AlltoAll", func() (*Tiling,
			int) {
			return add(ready(), with(OpAlltoAll, func(c *CcTiling) { c.SetStepSize(1) }))
		}, BadSetting, "only AlltoAllV with level1:pairwise runs in steps"},
		{"steps without pairs", func() (*Tiling, int) {
			return add(ready(), with(OpAlltoAllV, func(c *CcTiling) { c.SetStepSize(1); c.SetAlgConfig("AlltoAllV=level0:fullmesh") }))
		}, BadSetting, "step size"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tiling, status := tt.do()
			err := tiling.Err()
			m, ok := errors.AsType[*Misuse](err)
			if status == 0 || !ok || !m.Has(tt.rule) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("returned %d, error %v; want %s with %s", status, err, tt.rule, tt.want)
			}
			if len(tiling.Offsets()) > 0 {
				t.Errorf("something was added: %v", tiling.Offsets())
			}
		})
	}
}

// A setting that was refused is no secret, though what was set before it is used.
func TestSetterErrorsAreReportedOnce(t *testing.T) {
	c := NewCcTiling("g", OpAllReduce, DefaultAlgConfig(OpAllReduce))
	c.SetDebugMode(9)
	tiling := NewTiling()
	tiling.AddInit()
	for range 2 {
		offset, status := tiling.AddCc(c)
		if got, ok := tiling.At(offset); status != 0 || !ok || got.CommunicationOff() || len(got.Diagnostics()) > 0 {
			t.Fatalf("returned %d, %d: %+v", offset, status, got)
		}
	}
	found := tiling.Diagnostics()
	if len(found) != 1 || found[0].Rule != BadSetting || tiling.Err() == nil {
		t.Errorf("diagnostics %v, error %v", found, tiling.Err())
	}
	again, _ := tiling.At(tiling.Offsets()[0]) // what is in a tiling may be added to another
	if _, status := tiling.AddCc(again); status != 0 || len(tiling.Diagnostics()) != 1 {
		t.Errorf("returned %d, diagnostics %v", status, tiling.Diagnostics())
	}
}
