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
			got, err := Rewrite(Source{"t.yaml", []byte(test.text)}, []Change{{Key: "system.link.bw_gbs", Value: "123.5", Why: "measured"}},
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
		{"system: 5\n", "system.link", "t.yaml:1:9: system.link: found the number 5, want a mapping"},
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

// TestRewriteABlock: a list of mappings takes the place of a key's value, with its own comments.
func TestRewriteABlock(t *testing.T) {
	const rows = "  - topology: x\n    fingerprint: \"12\"\n    fidelity: slot\n    collective: all_reduce\n    ranks: 8\n    type: f32\n" +
		"    rows:\n      - from: 0 # 0 B\n        use: a\n"
	for _, before := range []string{"pe:\n  issue_ns: 2\n", "choices: []\npe:\n  issue_ns: 2\n", "choices:\n" + rows + rows} {
		got, err := Rewrite(Source{"t.yaml", []byte(before)}, []Change{{Key: "choices", Value: rows, Block: true}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		topo, err := LoadTopology([]Source{{"rewritten", got}}, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
		if all := topo.Choices(); len(all) != 1 || all[0].Rows[0].Use != "a" || !strings.Contains(string(got), "- from: 0 # 0 B\n") {
			t.Errorf("%+v\n%s", all, got)
		}
	}
	if _, err := Rewrite(Source{"t.yaml", nil}, []Change{{Key: "choices", Value: "- [", Block: true}}, nil); err == nil {
		t.Error("a block that is no YAML is accepted")
	}
}

// TestChoicesAreNoPartOfTheMachine: its fingerprint stays, so they can name it. Mistakes are found
// as in a tuning table.
func TestChoicesAreNoPartOfTheMachine(t *testing.T) {
	const good = "choices:\n  - {fingerprint: ab, collective: all_reduce, ranks: 8, type: f32, rows: [{from: 0, use: a}]}\n"
	topo, err := LoadTopology([]Source{{"t.yaml", []byte(good)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if topo.Fingerprint() != DefaultTopology().Fingerprint() {
		t.Error("the fingerprint is another")
	}
	topo.Choices()[0].Rows[0].Use = "b"
	if topo.Choices()[0].Rows[0].Use != "a" {
		t.Error("the choices are no copy")
	}
	for _, c := range []struct{ from, to, want string }{
		{"ranks: 8, ", "", "choices.0.ranks: is missing"},
		{"from: 0", "from: 1", "the first row is from 0 on"},
		{"fingerprint", "fingerprimt", `did you mean "fingerprint"?`},
	} {
		_, err := LoadTopology([]Source{{"t.yaml", []byte(strings.Replace(good, c.from, c.to, 1))}}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "t.yaml:2") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
