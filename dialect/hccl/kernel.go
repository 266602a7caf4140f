package hccl

import (
	"fmt"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// CoreType is the type of a core.
type CoreType uint8

// The types of cores.
const (
	AIC CoreType = iota // cube: matrix products
	AIV                 // vector: all other arithmetic on tensors
)

func (t CoreType) String() string {
	if t == AIC {
		return "AIC"
	}
	return "AIV"
}

// unit returns the type as in the instruction set.
func (t CoreType) unit() tl.CoreType {
	if t == AIC {
		return tl.CoreCube
	}
	return tl.CoreVector
}

// Kernel is the handle of the program of one core: all instructions of tl, and the launch.
type Kernel struct {
	*tl.Context
	session *session
	device  int // among those of the launch
	typ     CoreType
	block   int // among the cores of its type
	syncs   [2]int
	objects []*Hccl
	found   Misuse // so far, by time
	refused repeated
	ended   bool
}

// CoreType returns the type of this core (g_coreType).
func (k *Kernel) CoreType() CoreType { return k.typ }

// BlockIdx returns the number of this core among those of its type on the device (GetBlockIdx).
func (k *Kernel) BlockIdx() int { return k.block }

// BlockNum returns the number of cores of its type on the device (GetBlockNum).
func (k *Kernel) BlockNum() int { return k.session.cores.of(k.typ) }

// HcclContext returns the context of a group of the launch, 0 or 1 (GetHcclContext), for InitV2.
func (k *Kernel) HcclContext(group int) HcclContext { return HcclContext{group, true} }

// HcclContext names a group of the launch. The zero value is none.
type HcclContext struct {
	group int
	given bool
}

// Tiling returns the tiling of the launch.
func (k *Kernel) Tiling() *Tiling { return k.session.launch.Tiling }

// Buffer returns this device's part of a buffer of the launch. The kernel fails when the launch has
// fewer buffers.
func (k *Kernel) Buffer(i int) tl.Ref {
	refs := k.session.buffers
	if i < 0 || i >= len(refs) {
		tl.DriverOf(k.Context).Fail(&fault.Misuse{Place: tl.DriverOf(k.Context).Place("buffer"),
			Reason: fmt.Sprintf("Buffer(%d): the launch has %d buffers", i, len(refs))})
	}
	return refs[i][k.device]
}

// GM returns the address of Buffer(i).
func (k *Kernel) GM(i int) mem.Addr { return k.Buffer(i).Addr }

// SyncScope selects the cores of a device for a SyncAll.
type SyncScope uint8

// The scopes.
const (
	AIVOnly  SyncScope = iota // SyncAll<true>
	AllCores                  // SyncAll<false>
)

func (s SyncScope) String() string {
	if s == AIVOnly {
		return "true"
	}
	return "false"
}

// SyncAll waits until all cores of this device in the scope have called it as often as this core.
// Their earlier stores are visible afterwards.
func (k *Kernel) SyncAll(s SyncScope) {
	n := k.session.cores.AIV
	switch {
	case s > AllCores:
		tl.DriverOf(k.Context).Fail(&fault.Misuse{Place: tl.DriverOf(k.Context).Place("sync_all"),
			Reason: fmt.Sprintf("SyncScope(%d): one of AIVOnly, AllCores", s)})
	case s == AIVOnly && k.typ == AIC:
		tl.DriverOf(k.Context).Fail(&fault.Misuse{Place: tl.DriverOf(k.Context).Place("sync_all"),
			Reason: "SyncAll of the AIV cores on an AIC: the AIC cores take part in SyncAll(AllCores) only"})
	case s == AllCores:
		n += k.session.cores.AIC
	}
	k.syncs[s]++
	k.PipeBarrier()
	if n == 1 {
		return
	}
	came := k.Signals(k.session.meeting, "cores.came").At(int(s))
	k.Notify(came, k.device, tl.SignalAdd, 1)
	k.WaitUntil(came, tl.GE, int64(n*k.syncs[s]))
}

// New makes an object of this core (Hccl<serverType, config>).
func (k *Kernel) New(c Config) *Hccl {
	h := &Hccl{k: k, config: c}
	k.objects = append(k.objects, h)
	return h
}

// end is called when the program of a core has ended.
func (k *Kernel) end() {
	k.ended = true
	for _, h := range k.objects {
		if h.g != nil && h.posts && !h.finalized && len(h.tasks) > 0 {
			last := h.tasks[len(h.tasks)-1]
			d := h.diagnostic(Warning, NoFinalize, "the end of the kernel",
				fmt.Sprintf("%s was prepared, and Finalize was not called", last.call),
				"Finalize at the end: the server waits for more tasks otherwise", "")
			d.Place.Line = last.where.Place.Line
			k.found.Add(d)
		}
	}
}
