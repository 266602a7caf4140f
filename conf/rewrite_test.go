package conf

import (
	"strings"
	"testing"

	"kernbench/unit"
)

func TestRewrite(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a key that is there", "system:\n  link: # between packages\n    bw_gbs: 240 # published\n    latency_ns: 25 # too\n",
			"# made for a test\n#\n# by hand\n\nsystem:\n  link: # between packages\n    bw_gbs: 123.5 # measured\n    latency_ns: 25 # too\n"},
		{"one that is not", "pe:\n  issue_ns: 2\n", "pe:\n  issue_ns: 2\nsystem:\n  link:\n    bw_gbs: 123.5 # measured\n"},
		{"in one line", "system: {link: {bw_gbs: 1}}\n", "system:\n  link:\n    bw_gbs: 123.5 # measured\n"},
		{"added to one line", "system: {link: {latency_ns: 1}}\n", "system:\n  link:\n    latency_ns: 1\n    bw_gbs: 123.5 # measured\n"},
		{"below nothing", "system:\n", "system:\n  link:\n    bw_gbs: 123.5 # measured\n"},
		{"an empty file", "", "system:\n  link:\n    bw_gbs: 123.5 # measured\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Rewrite(Source{"t.yaml", []byte(test.text)}, []Change{{"system.link.bw_gbs", "123.5", "measured"}},
				[]string{"made for a test", "", "by hand"})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got), test.want) {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
			topo, err := LoadTopology([]Source{{"rewritten", got}}, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, got)
			}
			if topo.System().Link.BW != unit.GBs(123.5) {
				t.Errorf("loaded %v", topo.System().Link.BW)
			}
		})
	}
}

func TestRewriteErrors(t *testing.T) {
	for _, test := range []struct{ text, key, want string }{
		{"system: 5\n", "system.link", "t.yaml:1:9: system.link: found the number 5; a mapping is expected"},
		{"a: [1]\n", "a.1", "t.yaml:1:4: a.1: has no element 1: the list has 1"},
		{"a: [\n", "a", "t.yaml:"},
	} {
		if _, err := Rewrite(Source{"t.yaml", []byte(test.text)}, []Change{{Key: test.key, Value: "1"}},
			nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.text, err, test.want)
		}
	}
	got, err := Rewrite(Source{"t.yaml", []byte("a: [1, 2]\n")}, []Change{{Key: "a.1", Value: "3"}}, nil)
	if err != nil || string(got) != "a: [1, 3]\n" {
		t.Errorf("%q, %v", got, err)
	}
}
