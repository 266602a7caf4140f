package device_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kernbench/device"
	"kernbench/dtype"
	_ "kernbench/internal/fixedseed"
	"kernbench/mem"
)

func TestResolveDPPolicy(t *testing.T) {
	c := open(t)
	tests := []struct {
		name       string
		policy     device.DPPolicy
		rows, cols int
		want       string // cube.pe@offset+bytes[row+rows col+cols] ...
	}{
		{"columns over all PEs", device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise, NumPEs: 2}, 2, 8,
			"0.0@0+8[0+2 0+2] 0.1@8+8[0+2 2+2] 1.0@16+8[0+2 4+2] 1.1@24+8[0+2 6+2]"},
		{"rows over cubes, columns over PEs", device.DPPolicy{Cube: device.RowWise, PE: device.ColumnWise, NumPEs: 2}, 2, 4,
			"0.0@0+4[0+1 0+2] 0.1@4+4[0+1 2+2] 1.0@8+4[1+1 0+2] 1.1@12+4[1+1 2+2]"},
		{"tiles", device.DPPolicy{NumCubes: 1, PE: device.Tiled}, 4, 4,
			"0.0@0+8[0+2 0+2] 0.1@8+8[0+2 2+2] 0.2@16+8[2+2 0+2] 0.3@24+8[2+2 2+2]"},
		{"replicated over cubes", device.DPPolicy{PE: device.ColumnWise, NumPEs: 2}, 1, 4,
			"0.0@0+4[0+1 0+2] 0.1@4+4[0+1 2+2] 1.0@0+4[0+1 0+2] 1.1@4+4[0+1 2+2]"},
		{"replicated over PEs", device.DPPolicy{Cube: device.RowWise, NumPEs: 2}, 2, 2,
			"0.0@0+4[0+1 0+2] 0.1@0+4[0+1 0+2] 1.0@4+4[1+1 0+2] 1.1@4+4[1+1 0+2]"},
		{"what does not divide", device.DPPolicy{NumCubes: 1, PE: device.ColumnWise}, 1, 6,
			"0.0@0+4[0+1 0+2] 0.1@4+4[0+1 2+2] 0.2@8+2[0+1 4+1] 0.3@10+2[0+1 5+1]"},
		{"fewer columns than PEs", device.DPPolicy{NumCubes: 1, PE: device.ColumnWise}, 2, 3,
			"0.0@0+4[0+2 0+1] 0.1@4+4[0+2 1+1] 0.2@8+4[0+2 2+1]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			specs, err := device.ResolveDPPolicy(c.Machine(), tt.policy, tt.rows, tt.cols, dtype.F16, 1)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range specs {
				if s.SIP != 1 {
					t.Fatalf("a shard is on SIP %d, not on the target", s.SIP)
				}
				r := s.Region
				got = append(got, fmt.Sprintf("%d.%d@%d+%d[%d+%d %d+%d]", s.Cube, s.PE, s.OffsetBytes, s.NBytes,
					r.Row, r.Rows, r.Col, r.Cols))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Fatalf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

func policies(t *rapid.T) device.DPPolicy {
	return device.DPPolicy{
		Cube:     device.Placement(rapid.IntRange(0, 3).Draw(t, "cube")),
		PE:       device.Placement(rapid.IntRange(0, 3).Draw(t, "pe")),
		NumCubes: rapid.IntRange(0, 2).Draw(t, "num_cubes"),
		NumPEs:   rapid.IntRange(0, 4).Draw(t, "num_pes"),
	}
}

// Shards cover the matrix. Different shards are disjoint and follow each other without gaps in
// virtual addresses. Replicas are the same region at the same offset.
func TestShardsCoverTheMatrix(t *testing.T) {
	m := open(t).Machine()
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "cols")
		specs, err := device.ResolveDPPolicy(m, policies(t), rows, cols, dtype.F32, 0)
		if err != nil {
			t.Fatal(err)
		}
		covered := make([]int64, rows*cols) // offset of the shard that has it, plus 1
		next := int64(0)
		for _, s := range specs {
			if s.NBytes != int64(4*s.Region.Elems()) {
				t.Fatalf("%d bytes for %d elements", s.NBytes, s.Region.Elems())
			}
			if s.OffsetBytes > next {
				t.Fatalf("a gap before offset %d", s.OffsetBytes)
			}
			next = max(next, s.OffsetBytes+s.NBytes)
			for y := s.Region.Row; y < s.Region.Row+s.Region.Rows; y++ {
				for x := s.Region.Col; x < s.Region.Col+s.Region.Cols; x++ {
					if was := covered[y*cols+x]; was != 0 && was != s.OffsetBytes+1 {
						t.Fatalf("element (%d, %d) is in two different shards", y, x)
					}
					covered[y*cols+x] = s.OffsetBytes + 1
				}
			}
		}
		if slices.Contains(covered, 0) {
			t.Fatalf("an element is in no shard: %v", covered)
		}
		if next != int64(4*rows*cols) {
			t.Fatalf("shards span %d bytes of %d", next, 4*rows*cols)
		}
	})
}

func TestWhatIsCopiedInIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := open(t)
		if err := c.SetDevice(rapid.IntRange(0, 1).Draw(rt, "sip")); err != nil {
			rt.Fatal(err)
		}
		rows, cols := rapid.IntRange(1, 9).Draw(rt, "rows"), rapid.IntRange(1, 9).Draw(rt, "cols")
		x, err := c.Empty(rows, cols, dtype.F32, policies(rt))
		if err != nil {
			rt.Fatal(err)
		}
		h, err := c.FromSlice(ramp(rows*cols), rows, cols, dtype.F32)
		if err != nil {
			rt.Fatal(err)
		}
		y, err := c.Empty(rows, cols, dtype.F32, policies(rt))
		if err != nil {
			rt.Fatal(err)
		}
		if err := x.CopyFrom(h); err != nil {
			rt.Fatal(err)
		}
		if err := y.CopyFrom(x); err != nil {
			rt.Fatal(err)
		}
		got, err := y.Read()
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(got, ramp(rows*cols)) {
			rt.Fatalf("got %v", got)
		}
	})
}

func TestVirtualAddressesAreContiguous(t *testing.T) {
	c := open(t)
	x := must(c.Zeros(2, 8, dtype.F16, device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise}))(t)
	y := must(c.Zeros(2, 8, dtype.F16, device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise}))(t)
	next := x.VA()
	for _, s := range x.Shards() {
		if s.VA != next {
			t.Fatalf("shard of %d.%d is at %v, not at %v", s.Cube, s.PE, s.VA, next)
		}
		if s.Addr.Space() != mem.HBM || s.Addr.Unit() != s.Rank {
			t.Fatalf("shard of PE %d is in %v", s.Rank, s.Addr)
		}
		next += mem.Addr(s.NBytes)
	}
	if y.VA() <= next {
		t.Fatalf("tensors touch at %v: an overrun would go unseen", y.VA())
	}
}

func TestParsePolicy(t *testing.T) {
	tests := []struct {
		text string
		want device.DPPolicy
		err  string
	}{
		{"cube=replicate,pe=column_wise,num_cubes=1", device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}, ""},
		{"cube=row_wise, pe=tiled, num_pes=4", device.DPPolicy{Cube: device.RowWise, PE: device.Tiled, NumPEs: 4}, ""},
		{"sip=column_wise", device.DPPolicy{}, "within one SIP; choose the SIP with SetDevice"},
		{"num_sips=2", device.DPPolicy{}, "within one SIP"},
		{"pe_index=3", device.DPPolicy{}, "flat PE numbers"},
		{"pe=diagonal", device.DPPolicy{}, "want one of replicate, column_wise, row_wise, tiled"},
		{"num_pes=0", device.DPPolicy{}, "at least 1"},
		{"pes=2", device.DPPolicy{}, "unknown key"},
		{"", device.DPPolicy{}, "unknown key"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := device.ParsePolicy(tt.text)
			switch {
			case tt.err == "" && (err != nil || got != tt.want):
				t.Fatalf("got %v, %v", got, err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Fatalf("got %v, want an error with %q", err, tt.err)
			}
		})
	}
}

func FuzzParsePolicy(f *testing.F) {
	f.Add("cube=replicate,pe=column_wise,num_cubes=1")
	f.Add("sip=tiled")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := device.ParsePolicy(s)
		if err != nil {
			return
		}
		again, err := device.ParsePolicy(p.String())
		if err != nil || again != p {
			t.Fatalf("%q became %v, which reads as %v, %v", s, p, again, err)
		}
	})
}
