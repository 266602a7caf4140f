package conf

import (
	"fmt"
	"strings"
	"testing"
)

// TestSourcesAreKept: a source is parsed once. A load finds the same as the first one, also after
// loads of other sources, and an error names its own file.
func TestSourcesAreKept(t *testing.T) {
	parsed = parsedSources{}
	good := Source{"good.yaml", []byte("system: {sips: {count: 3}}\n")}
	for range 2 {
		for i, sets := range [][]string{nil, {"system.sips.count=5"}, {"system.sips.topology=switch"}, nil} {
			loaded, err := LoadTopology([]Source{good}, sets)
			if err != nil {
				t.Fatal(err)
			}
			if want := []int{3, 5, 3, 3}[i]; loaded.System().SIPs.Count != want {
				t.Errorf("%q: %d SIPs, want %d", sets, loaded.System().SIPs.Count, want)
			}
		}
		for _, name := range []string{"a.yaml", "b.yaml"} {
			for _, key := range []string{"sipz", "links"} {
				_, err := LoadTopology([]Source{{name, fmt.Appendf(nil, "system: {%s: 1}\n", key)}}, nil)
				if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), key) {
					t.Errorf("%s with %s: %v", name, key, err)
				}
			}
		}
		for i := range parsedKept {
			if _, err := LoadTopology([]Source{{fmt.Sprint(i), good.Data}}, nil); err != nil {
				t.Fatal(err)
			}
			if len(parsed.kept) > parsedKept {
				t.Fatalf("%d sources are kept", len(parsed.kept))
			}
		}
	}
	if _, kept := parsed.kept[parsedKey{"31", string(good.Data), false}]; !kept {
		t.Error("the last source is not kept")
	}
	for _, builtin := range []bool{false, true} {
		if text, _, err := parsed.source(good, builtin); err != nil || text.builtin != builtin {
			t.Errorf("built in: %v, want %v; %v", text.builtin, builtin, err)
		}
	}
	large := Source{"large.yaml", []byte(strings.Repeat("#\n", parsedBytes) + string(good.Data))}
	if _, err := LoadTopology([]Source{large}, nil); err != nil {
		t.Fatal(err)
	}
	if _, kept := parsed.kept[parsedKey{large.Name, string(large.Data), false}]; kept {
		t.Error("a large source is kept")
	}
}
