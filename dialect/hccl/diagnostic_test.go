package hccl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kernbench/fault"
	"kernbench/unit"
)

func TestDiagnosticsAreOneLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		d    Diagnostic
		want string
	}{
		{"in a kernel", Diagnostic{
			Place: fault.Place{Rank: 1, PE: "sip0.cube0.pe1", Op: "commit", Line: "kernel.go:12", Time: 5 * unit.Nanosecond, Timed: true},
			Block: 0, Core: "AIV", Call: "Commit(handle 3)", Rule: CommitTooOften,
			Found: "2 turns were prepared and 2 committed before; nothing to release", Right: "Commit once for each turn (repeat 2)",
		},
			"hccl: rank 1 (sip0.cube0.pe1) block 0 (AIV) at kernel.go:12 t=5ns: Commit(handle 3): 2 turns were prepared and 2 committed before; nothing to release: Commit once for each turn (repeat 2) [commit-too-often]"},
		{"what it returned", Diagnostic{
			Place: fault.Place{Rank: 0}, Block: 2, Call: "Wait(handle 0)", Rule: WaitBeforeCommit,
			Found: "no turn was committed", Returned: "-1",
		}, "hccl: rank 0 block 2: Wait(handle 0): no turn was committed (returned -1) [wait-before-commit]"},
		{"on the host", Diagnostic{
			Place: fault.Place{Rank: fault.Host}, Call: "Tiling.AddCc", Rule: TilingOrder, Found: "there is no init tiling yet",
		}, "hccl: Tiling.AddCc: there is no init tiling yet [tiling-order]"},
		{"a warning", Diagnostic{
			Severity: Warning, Place: fault.Place{Rank: 3, Line: "k.go:1"}, Rule: WaitOrder, Found: "two\nlines",
		}, "hccl: warning: rank 3 block 0 at k.go:1: two lines [wait-order]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.d.String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSeveritiesHaveNames(t *testing.T) {
	if got := fmt.Sprint(Error, Warning); got != "error warning" {
		t.Errorf("got %s", got)
	}
}

func TestMisuseIsBounded(t *testing.T) {
	var m Misuse
	for i := range 250 {
		m.Add(Diagnostic{Place: fault.Place{Rank: i}, Rule: BadHandle, Found: "x"})
	}
	if len(m.Diagnostics) != 100 || m.More != 150 || m.Diagnostics[99].Place.Rank != 99 {
		t.Errorf("%d diagnostics and %d more, the last of rank %d", len(m.Diagnostics), m.More,
			m.Diagnostics[len(m.Diagnostics)-1].Place.Rank)
	}
	lines := strings.Split(m.Error(), "\n")
	if len(lines) != 11 || !strings.HasPrefix(lines[9], "hccl: rank 9 ") || lines[10] != "hccl: and 240 more" {
		t.Errorf("%d lines:\n%s", len(lines), m.Error())
	}
}

func TestMisuseIsAnError(t *testing.T) {
	var m Misuse
	if m.err() != nil {
		t.Error("nothing was found, and it is an error")
	}
	m.Add(Diagnostic{Severity: Warning, Rule: WaitOrder})
	if m.err() != nil {
		t.Error("a warning is an error")
	}
	m.Add(Diagnostic{Rule: BadHandle, Found: "x"})
	err := fmt.Errorf("launch: %w", m.err())
	got, ok := errors.AsType[*Misuse](err)
	if !ok || !got.Has(BadHandle) || !got.Has(WaitOrder) || got.Has(NoInit) {
		t.Errorf("%v is %+v", err, got)
	}
	if strings.HasSuffix(m.Error(), "more") {
		t.Errorf("two are shown as %s", m.Error())
	}
}

// A mistake of many cores at the same call is reported once, with their number.
func TestMisuseCountsRepeats(t *testing.T) {
	var m Misuse
	d := Diagnostic{Place: fault.Place{Rank: 0, Line: "k.go:7"}, Call: "Wait(handle 0)", Rule: WaitTooOften, Found: "x", Returned: "-1"}
	for rank := range 200 {
		d.Place.Rank = rank
		m.Add(d)
	}
	for _, change := range []func(d *Diagnostic){
		func(d *Diagnostic) { d.Place.Line = "k.go:8" },
		func(d *Diagnostic) { d.Call = "Wait(handle 1)" },
		func(d *Diagnostic) { d.Rule = WaitBeforeCommit },
		func(d *Diagnostic) { d.Found = "y" },
		func(d *Diagnostic) { d.Severity = Warning },
	} {
		other := d
		change(&other)
		m.Add(other)
	}
	if len(m.Diagnostics) != 6 || m.More != 0 || m.Diagnostics[0].Repeats != 199 || m.Diagnostics[0].Place.Rank != 0 ||
		m.Diagnostics[5].Repeats != 0 {
		t.Errorf("%d diagnostics, %d more: %+v", len(m.Diagnostics), m.More, m.Diagnostics)
	}
	want := "hccl: rank 0 block 0 at k.go:7: Wait(handle 0): x (returned -1; found 200 times) [wait-too-often]"
	if got := m.Diagnostics[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// For the exit status, a mistake of a kernel is a fault of the kernel; what the host does wrong is
// not.
func TestMisuseOfKernelsIsAFault(t *testing.T) {
	kernel := Diagnostic{Place: fault.Place{Rank: 1, Line: "k.go:7"}, Rule: BadHandle, Found: "no handle"}
	host := hostDiagnostic("AddCc", TilingOrder, "too early", "", "1")
	warning := kernel
	warning.Severity = Warning
	for _, c := range []struct {
		name string
		list []Diagnostic
		want bool
	}{
		{"kernel", []Diagnostic{host, kernel}, true},
		{"host", []Diagnostic{host}, false},
		{"warning", []Diagnostic{warning}, false},
	} {
		if got := fault.Is(fmt.Errorf("launch: %w", &Misuse{Diagnostics: c.list})); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
