package unit

import "testing"

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"30ns", "1.5us", "-0.25µs", "1e9s", "0", ".", "9223372.036854775808s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseTime(s)
		if err != nil {
			return
		}
		if again, err := ParseTime(v.String()); err != nil || again != v {
			t.Fatalf("%q is %d ps, prints as %q, reads back as %d, %v", s, int64(v), v, int64(again), err)
		}
	})
}

func FuzzParseBytes(f *testing.F) {
	for _, s := range []string{"4096", "4KiB", "64K", "1.5GiB", "64KB", "-1", "8388608TiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseBytes(s)
		if err != nil {
			return
		}
		if again, err := ParseBytes(v.String()); err != nil || again != v || v < 0 {
			t.Fatalf("%q is %d B, prints as %q, reads back as %d, %v", s, int64(v), v, int64(again), err)
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"128GB/s", "204.8 GB/s", "400Gbit/s", "400Gb/s", "128", "-1B/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseRate(s)
		if err != nil {
			return
		}
		if again, err := ParseRate(v.String()); err != nil || again != v || v < 0 {
			t.Fatalf("%q is %d B/s, prints as %q, reads back as %d, %v", s, int64(v), v, int64(again), err)
		}
	})
}
