package main

import (
	"context"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/machine"
	"kernbench/record/oplog"
)

// reduced runs a kernel on inputs of which 1, 2, 3 and 4 are the values of the devices.
func reduced(t *testing.T, kernel func(k *hccl.Kernel)) ([]float64, error) {
	t.Helper()
	topo := conf.DefaultTopology()
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Inline: true})
	defer log.Close()
	dev, err := device.New(device.Config{Machine: m, Executor: mock.New(mock.Options{Data: log}),
		Check: func(*device.Call) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	var tensors []*device.Tensor
	for range 2 {
		x, err := dev.EmptyOn([]int32{0, 1, 2, 3}, 300, dtype.F16)
		if err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, x)
	}
	values := make([]float64, 1200)
	for i := range values {
		values[i] = float64(1 + i/300)
	}
	if err := tensors[0].CopyIn(values); err != nil {
		t.Fatal(err)
	}
	if err := reduceOn(context.Background(), dev, []int32{0, 1, 2, 3}, kernel, tensors[:1], tensors[1:]); err != nil {
		return nil, err
	}
	got, err := tensors[1].Read()
	if err != nil {
		t.Fatal(err)
	}
	return got, nil
}

func TestTasks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kernel func(k *hccl.Kernel)
		want   float64
	}{{"one task", allReduceCustom, 10}, {"tiles", allReduceTiles, 10}, {"compute", twice, 20}} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := reduced(t, tt.kernel)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != tt.want {
					t.Fatalf("element %d of device %d is %v, not %v", i%300, i/300, v, tt.want)
				}
			}
		})
	}
}

// section returns what stands under a heading of the page.
func section(t *testing.T, title string) string {
	t.Helper()
	text, err := os.ReadFile(hcclPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n## "+title+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", hcclPage, title)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

func TestHcclReportIsShown(t *testing.T) {
	_, err := reduced(t, forgottenCommit)
	shown := 0
	for _, b := range pageBlocks(t) {
		if b.info != "report forgotten commit" {
			continue
		}
		shown++
		if err == nil {
			t.Fatalf("%v: it is no mistake", &b)
		}
		if line := missing(b.text, err.Error()); line != "" {
			t.Errorf("%v: no line is, behind those before it,\n%s\nin\n%v", &b, line, err)
		}
	}
	if shown != 1 {
		t.Errorf("it stands in %d blocks", shown)
	}
}

// TestHcclRules: the page has every rule, in the order of the package, with its meaning.
func TestHcclRules(t *testing.T) {
	rows := cells(section(t, "Rules"))
	if len(rows) != len(hccl.Rules()) {
		t.Errorf("%d rules in the page, %d in the package", len(rows), len(hccl.Rules()))
	}
	for i, rule := range hccl.Rules() {
		if i < len(rows) && (rows[i][0] != "`"+string(rule)+"`" || rows[i][1] != rule.Meaning()) {
			t.Errorf("row %d is %q, want | `%s` | %s |", i, rows[i], rule, rule.Meaning())
		}
	}
}

// TestHcclAlgorithms: the page has every algorithm string, what performs it and what that costs.
func TestHcclAlgorithms(t *testing.T) {
	rows := cells(section(t, "Algorithm strings"))
	known := hccl.KnownAlgConfigs()
	if len(rows) != len(known) {
		t.Errorf("%d algorithm strings in the page, %d in the package", len(rows), len(known))
	}
	for i, s := range known {
		name, cost := "copies, one after the other", "alpha + beta M per copy"
		if a, err := hccl.ParseAlgConfig(s); err != nil {
			t.Error(err)
		} else if row, err := a.Row(); err == nil {
			name, cost = "`"+row.Name+"`", row.Cost
		}
		if i < len(rows) && (rows[i][0] != "`"+s+"`" || rows[i][1] != name || rows[i][2] != cost) {
			t.Errorf("row %d is %q, want | `%s` | %s | %s |", i, rows[i], s, name, cost)
		}
	}
}

// TestHcclNames: the page has every call that kernels and host programs make.
func TestHcclNames(t *testing.T) {
	names := section(t, "Names")
	for _, what := range []reflect.Type{reflect.TypeFor[*hccl.Hccl](), reflect.TypeFor[*hccl.Kernel](),
		reflect.TypeFor[*hccl.CcTiling](), reflect.TypeFor[*hccl.Tiling]()} {
		for i := range what.NumMethod() {
			name := what.Method(i).Name
			switch {
			case what == reflect.TypeFor[*hccl.Kernel]() && fromContext(name):
			case what == reflect.TypeFor[*hccl.CcTiling]() && !strings.HasPrefix(name, "Set"):
			case !regexp.MustCompile("`([a-z]+\\.)?" + name + "[`(]").MatchString(names):
				t.Errorf("the page does not have %v.%s", what, name)
			}
		}
	}
}

// fromContext reports whether kernels of the task API have a call from those of any kernel alone.
func fromContext(name string) bool {
	c, _ := reflect.TypeFor[hccl.Kernel]().FieldByName("Context")
	_, inherited := c.Type.MethodByName(name)
	return inherited && name != "CoreType"
}
