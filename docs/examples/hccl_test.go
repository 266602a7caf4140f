package examples

import (
	"context"
	"errors"
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

// guide: hccl one task
// allReduceCustom adds up 300 elements of each device, in one task.
func allReduceCustom(k *hccl.Kernel) {
	if k.CoreType() != hccl.AIV { // the AIV cores communicate
		return
	}
	h := k.New(hccl.Config{})
	h.InitV2(k.HcclContext(0), k.Tiling())
	if h.SetCcTilingV2(k.Tiling().Offsets()[0]) != hccl.Success {
		return
	}
	id := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), 300, hccl.FP16, hccl.ReduceSum, 1)
	h.Wait(id)
	k.SyncAll(hccl.AIVOnly) // no core finalizes while another one is to wait
	h.Finalize()
}

// end

// guide: hccl tiles
// allReduceTiles does the same in two tiles of 128 elements and one of 44.
func allReduceTiles(k *hccl.Kernel) {
	const tileLen, tileNum, tailLen = 128, 2, 44
	h := k.New(hccl.Config{})
	h.InitV2(k.HcclContext(0), k.Tiling())
	if h.SetCcTilingV2(k.Tiling().Offsets()[0]) != hccl.Success {
		return
	}
	send, recv := k.GM(0), k.GM(1)
	tiles := h.AllReduce(hccl.CommitNow, send, recv, tileLen, hccl.FP16, hccl.ReduceSum, tileNum)
	const done = tileLen * tileNum * 2 // bytes
	tail := h.AllReduce(hccl.CommitNow, send+done, recv+done, tailLen, hccl.FP16, hccl.ReduceSum, 1)
	for range tileNum {
		h.Wait(tiles)
	}
	h.Wait(tail)
	k.SyncAll(hccl.AIVOnly)
	h.Finalize()
}

// end

// guide: hccl compute
// twice computes a tile, lets it go and computes the next: the sum of x + x in three turns.
func twice(k *hccl.Kernel) {
	h := k.New(hccl.Config{})
	h.InitV2(k.HcclContext(0), k.Tiling())
	h.SetCcTilingV2(k.Tiling().Offsets()[0])
	id := h.AllReduce(hccl.CommitLater, k.GM(0), k.GM(1), 100, hccl.FP16, hccl.ReduceSum, 3)
	for i := range 3 {
		if i%k.BlockNum() == k.BlockIdx() { // the cores share the tiles
			tile := k.Buffer(0).Slice(100*i, 100)
			x := k.Load(tile)
			k.Store(tile, k.Add(x, x))
		}
		k.SyncAll(hccl.AIVOnly) // the core that posts has seen the tile
		h.Commit(id)
	}
	h.Finalize() // waits for all turns
}

// end

// guide: hccl host
// reduceOn adds up x of some devices into their y: 300 elements fp16 of each.
func reduceOn(ctx context.Context, dev *device.Context, pes []int32, kernel func(k *hccl.Kernel), x, y []*device.Tensor) error {
	world, err := hccl.NewComm(dev, "world", pes, hccl.Options{}) // PEs, by rank
	if err != nil {
		return err
	}
	tiling := hccl.NewTiling()
	tiling.AddInit()
	tiling.AddCc(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:doublering"))
	if err := tiling.Err(); err != nil { // what was refused, if anything
		return err
	}
	l := hccl.Launch{
		Name: "all_reduce_custom", Kernel: kernel, Cores: hccl.Cores{AIV: 2},
		Comms: []*hccl.Comm{world}, Tiling: tiling,
		Buffers: [][]*device.Tensor{x, y}, // Buffer(0) and Buffer(1) of the kernel
	}
	_, err = l.Run(ctx) // until all cores and all tasks have ended
	return errors.Join(err, world.Free())
}

// end

// guide: hccl forgotten commit
func forgottenCommit(k *hccl.Kernel) {
	h := k.New(hccl.Config{})
	h.InitV2(k.HcclContext(0), k.Tiling())
	h.SetCcTilingV2(k.Tiling().Offsets()[0])
	id := h.AllReduce(hccl.CommitLater, k.GM(0), k.GM(1), 150, hccl.FP16, hccl.ReduceSum, 2)
	h.Commit(id) // the first turn, and nobody releases the second
	h.Wait(id)
	k.SyncAll(hccl.AIVOnly)
	h.Finalize()
}

// end

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
	dev, err := device.New(device.Config{Machine: m, Topology: topo, Executor: mock.New(mock.Options{Data: log}), Check: func(*device.Call) error { return nil }})
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

const hcclPage = "../hccl.md"

// section is what stands under a heading of the page.
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

// cells is the rows of the first table of a section, without its head.
func cells(text string) [][]string {
	var rows [][]string
	for line := range strings.SplitSeq(text, "\n") {
		row, ok := strings.CutPrefix(line, "| ")
		if !ok {
			if rows != nil && !strings.HasPrefix(line, "|") {
				break
			}
			continue
		}
		rows = append(rows, strings.Split(strings.TrimSuffix(row, " |"), " | "))
	}
	return rows[1:]
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
		name, cost := "copies, in their order", "each alpha + beta M"
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
	for _, what := range []reflect.Type{reflect.TypeFor[*hccl.Hccl](), reflect.TypeFor[*hccl.Kernel](), reflect.TypeFor[*hccl.CcTiling](), reflect.TypeFor[*hccl.Tiling]()} {
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
