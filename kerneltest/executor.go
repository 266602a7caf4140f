package kerneltest

import (
	"fmt"
	"strings"
	"sync"

	"kernbench/conf"
	"kernbench/exec"
	"kernbench/exec/mock"
	_ "kernbench/exec/sim" // Run performs kernels on it
	"kernbench/machine"
	"kernbench/record/oplog"
)

// executor returns the executor for a single schedule: the first of cfg.Executors, or mock.
func (cfg *Config) executor() (*exec.Row, error) {
	if len(cfg.Executors) == 0 {
		return exec.Default(exec.Checking), nil
	}
	return exec.Lookup(cfg.Executors[0])
}

// open makes an executor on a machine that holds the ranks.
func (cfg *Config) open(row *exec.Row, log *oplog.Log) (exec.Executor, error) {
	if row.Name == mock.Name { // it needs no machine
		return mock.New(mock.Options{
			Data: log, RecordLines: cfg.History == nil, History: cfg.History, Seed: cfg.Seed, Order: cfg.Order, NoAtomics: cfg.NoAtomics,
		}), nil
	}
	m, err := cfg.machine()
	if err != nil {
		return nil, err
	}
	return row.Open(exec.Setup{
		Machine: m, Order: cfg.Order, Seed: cfg.Seed, Data: log, History: cfg.History,
		RecordLines: cfg.History == nil,
	})
}

// machines are the machines of earlier tests, by their settings. They are read-only.
var machines sync.Map

// machine returns one SIP of cubes with eight PEs each, as few as hold the ranks.
func (cfg *Config) machine() (*machine.Machine, error) {
	cubes := (cfg.World + 7) / 8
	w := 1
	for w*w < cubes {
		w++
	}
	sets := []string{
		"system.sips.count=1", fmt.Sprintf("sip.cube_mesh.w=%d", w), fmt.Sprintf("sip.cube_mesh.h=%d", (cubes+w-1)/w),
		fmt.Sprintf("pe.tcm.scratch=%d", cfg.Scratch), "fabric.memory_order=" + cfg.Order.String(),
		fmt.Sprintf("fabric.p2p_native_atomics=%v", !cfg.NoAtomics),
	}
	if cfg.Multimem {
		sets = append(sets, SwitchSettings(cfg.World)...)
	}
	key := strings.Join(sets, " ")
	if b, ok := machines.Load(key); ok {
		return b.(*machine.Machine), nil
	}
	top, err := conf.LoadTopology(nil, sets)
	if err != nil {
		return nil, fmt.Errorf("kerneltest: %w", err)
	}
	m, err := machine.Build(top)
	if err != nil {
		return nil, fmt.Errorf("kerneltest: %w", err)
	}
	machines.Store(key, m)
	return m, nil
}
