package msccl

import (
	"strings"
	"testing"
	"unicode/utf16"

	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// hostile are files that make naive parsers fail.
func hostile() map[string]string {
	good := ring(2)
	var wide strings.Builder
	for i := range 5000 {
		wide.WriteString(" a")
		wide.WriteString(strings.Repeat("b", 1+i%7))
		wide.WriteString("=\"1\"")
	}
	units := utf16.Encode([]rune(good))
	var utf strings.Builder
	utf.WriteString("\xff\xfe")
	for _, u := range units {
		utf.WriteByte(byte(u))
		utf.WriteByte(byte(u >> 8))
	}
	return map[string]string{
		"entity bomb": `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>` + strings.Replace(good,
			"ring", "&b;", 1),
		"depth":       strings.Replace(good, "<tb ", strings.Repeat("<x>", 100000)+"<tb ", 1),
		"wide":        strings.Replace(good, "<tb ", "<tb"+wide.String()+" ", 1),
		"huge number": strings.Replace(good, `nchunksperloop="2"`, `nchunksperloop="1000000000000000000000"`, 1),
		"large number": strings.Replace(strings.Replace(good, `nchunksperloop="2"`, `nchunksperloop="1048576"`,
			1), `ngpus="2"`, `ngpus="65536"`, 1),
		"much scratch":       strings.ReplaceAll(good, `s_chunks="0"`, `s_chunks="1048576"`),
		"fraction":           strings.Replace(good, `cnt="1"`, `cnt="8.5"`, 1),
		"two roots":          good + good,
		"zero byte":          strings.Replace(good, "ring", "ri\x00ng", 1),
		"UTF-16":             utf.String(),
		"UTF-16, as it says": `<?xml version="1.0" encoding="UTF-16"?>` + good,
		"broken UTF-8":       strings.Replace(good, "ring", "\xff\xfe\xfd", 1),
		"empty":              "",
		"half":               good[:len(good)/2],
		"no tags":            "algo",
		"only root":          "<algo/>",
	}
}

func TestHostileFilesAreRejected(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			if name == "much scratch" {
				return // 2 ranks of a million chunks are many, and no mistake
			}
			p, findings := Read(plan.File{Name: "x.xml", Data: []byte(text)})
			if p != nil || len(findings) == 0 {
				t.Fatal("the file was read")
			}
			for _, f := range findings {
				if f.Verdict != plan.ParseReject || len(f.Text) > 300 {
					t.Errorf("found %v, want a short PARSE-REJECT", f)
				}
			}
		})
	}
}

// FuzzRead reads anything, and judges what can be read: no panic, no hang, findings that name a
// place.
func FuzzRead(f *testing.F) {
	f.Add(ring(2))
	f.Add(ring(3))
	for _, text := range hostile() {
		if len(text) < 1<<16 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, findings := Read(plan.File{Name: "x.xml", Data: []byte(text)})
		if p == nil {
			if len(findings) == 0 {
				t.Error("no program, and no reason")
			}
			return
		}
		for _, inPlace := range p.Modes {
			for _, bytes := range []int64{0, 1, 100 << 20} {
				pl, _ := p.Plan(plan.Call{InPlace: inPlace, Bytes: bytes})
				if pl.Steps() > 10000 || cells(pl) > 100000 {
					return
				}
				j := judge.Judge(pl)
				if len(j.Verdicts) == 0 {
					t.Error("no verdict")
				}
			}
		}
	})
}

func cells(p *plan.Plan) (n int) {
	for r := range p.Ranks {
		for _, m := range p.Ranks[r].Memories {
			n += m
		}
	}
	return n
}
