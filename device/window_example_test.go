package device_test

import (
	"context"
	"fmt"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// onDefaultMachine returns a context without a clock, with data.
func onDefaultMachine() (dev *device.Context, done func()) {
	topo := conf.DefaultTopology()
	m, err := machine.Build(topo)
	if err != nil {
		panic(err)
	}
	log := oplog.New(oplog.Options{Inline: true})
	dev, err = device.New(device.Config{Machine: m, Executor: mock.New(mock.Options{Data: log})})
	if err != nil {
		panic(err)
	}
	return dev, log.Close
}

// A window over three PEs. Each puts its rank into the copy of the next, and waits for the signal
// that comes with the previous one's rank.
func ExampleContext_NewWindow() {
	dev, done := onDefaultMachine()
	defer done()

	team, err := dev.NewTeam("ring", []int32{0, 1, 2})
	if err != nil {
		panic(err)
	}
	w, err := dev.NewWindow("mail", team, 0,
		mem.Buffer{Name: "out", Parts: []mem.Part{mem.DataPart("", dtype.F32, 2)}},
		mem.Buffer{Name: "in", Parts: []mem.Part{mem.DataPart("", dtype.F32, 2)}},
		mem.Buffer{Name: "came", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 1)}},
	)
	if err != nil {
		panic(err)
	}
	for r := range team.Size() { // what each is to send
		if err := dev.CopyToWindow(w, r, "out", 0, []float64{float64(r), float64(10 * r)}); err != nil {
			panic(err)
		}
	}

	pass := func(c *tl.Context, a tl.Args) {
		w := a.Window(0)
		came := c.Signals(w, "came").At(0)
		next := (c.Rank() + 1) % c.WorldSize()
		c.PutSignal(c.Data(w, "in"), next, c.Local(c.Data(w, "out")), came, tl.SignalAdd, 1)
		c.WaitUntil(came, tl.GE, 1)
	}
	if _, err := dev.LaunchTeam(context.Background(), "pass", pass, team, w); err != nil {
		panic(err)
	}
	for r := range team.Size() {
		got, err := dev.ReadWindow(w, r, "in", 0, 2)
		fmt.Println(r, got, err)
	}
	fmt.Println(dev.FreeWindow(w), dev.FreeTeam(team))
	// Output:
	// 0 [2 20] <nil>
	// 1 [0 0] <nil>
	// 2 [1 10] <nil>
	// <nil> <nil>
}

// Two streams. The copy engine brings rows from one PE to the other, where a grid of programs waits
// for them and doubles one row each.
func ExampleContext_NewStream() {
	dev, done := onDefaultMachine()
	defer done()

	x, err := dev.Zeros(4, 2, dtype.F32, device.DPPolicy{PE: device.RowWise, NumCubes: 1, NumPEs: 2}) // two rows each
	if err != nil {
		panic(err)
	}
	if err := x.CopyIn([]float64{1, 2, 3, 4, 0, 0, 0, 0}); err != nil {
		panic(err)
	}
	try := func(err error) {
		if err != nil {
			panic(err)
		}
	}

	first, err := dev.NewStream(0)
	try(err)
	try(first.Copy(x.On(1).Rows(0, 2), x.On(0).Rows(0, 2)))

	second, err := dev.NewStream(1)
	try(err)
	try(second.Join(first))
	double := func(c *tl.Context, a tl.Args) {
		row := a.Shard(c.Rank()).Slice(2*c.ProgramID(0), 2)
		v := c.Load(row)
		c.Store(row, c.Add(v, v))
	}
	try(second.Launch("double", double, device.Grid{Programs: 2}, x))

	try(dev.Synchronize(context.Background()))
	fmt.Println(x.Read())
	try(first.Free())
	try(second.Free())
	// Output: [1 2 3 4 2 4 6 8] <nil>
}
