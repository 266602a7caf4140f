package mscclpp

import "slices"

// step performs an operation if it need not wait.
func (f *floats) step(rank, block int, o floatOp) bool {
	r, op := f.ranks[rank], o.op
	fb := r.blocks[block]
	g := &f.plan.GPUs[rank]
	list := g.Blocks[block].Memory
	if op.Type == PortChannel {
		list = g.Blocks[block].Port
	}
	switch op.Name {
	case "nop":
		return true
	case "barrier":
		return f.barrier(r, fb, op)
	case "sem_acquire":
		for _, id := range op.Semaphores {
			if r.sems[id] < 1 {
				return false
			}
		}
		for _, id := range op.Semaphores {
			r.sems[id]--
		}
		return true
	case "sem_release":
		for _, id := range op.Semaphores {
			r.sems[id]++
		}
		return true
	case "wait", "rlxwait":
		for _, c := range op.Channels {
			if f.signals[[4]int{rank, int(op.Type), list[c]}] < 1 {
				return false
			}
		}
		for _, c := range op.Channels {
			f.signals[[4]int{rank, int(op.Type), list[c]}]--
		}
		return true
	case "signal", "rlxsignal":
		for _, c := range op.Channels {
			channel := list[c]
			if op.Type == PortChannel {
				r.later(fb, channel, func() { f.signal(rank, op.Type, channel) })
				continue
			}
			f.signal(rank, op.Type, channel)
		}
		return true
	case "flush":
		for _, c := range op.Channels {
			if p := r.proxies[list[c]]; p != nil && len(p.queue) > 0 {
				return false
			}
		}
		return true
	}
	return f.move(rank, block, o, list)
}

func (r *floatRank) later(fb *floatBlock, channel int, do func()) {
	if r.proxies[channel] == nil {
		r.proxies[channel] = &floatProxy{}
	}
	r.proxies[channel].queue = append(r.proxies[channel].queue, do)
	fb.owed[channel]++
}

// barrier lets thread blocks pass when all of its thread blocks have arrived.
func (f *floats) barrier(r *floatRank, fb *floatBlock, op *Op) bool {
	id := op.Barrier
	if fb.met == 0 {
		fb.met = r.passed[id] + 1
		if r.arrived[id]++; r.arrived[id] == op.Blocks {
			r.arrived[id] = 0
			r.passed[id]++
		}
	}
	if r.passed[id] < fb.met {
		return false
	}
	fb.met = 0
	return true
}

// signal adds to the count of the peer's channel with the same number among those between the two.
func (f *floats) signal(rank int, t ChannelType, channel int) {
	of := func(rank int) []int {
		if t == PortChannel {
			return f.plan.GPUs[rank].Port
		}
		return f.plan.GPUs[rank].Memory
	}
	peer, nth := of(rank)[channel], 0
	for _, p := range of(rank)[:channel] {
		if p == peer {
			nth++
		}
	}
	for k, p := range of(peer) {
		if p == rank {
			if nth == 0 {
				f.signals[[4]int{peer, int(t), k}]++
				return
			}
			nth--
		}
	}
}

// move performs an operation that moves data.
func (f *floats) move(rank, block int, o floatOp, list []int) bool {
	op, r := o.op, f.ranks[rank]
	now := r.launch + 1
	type read struct {
		from   [][]place
		packet bool
	}
	get := func(ref Ref, packet bool, size int) read {
		if packet && op.Name != "ppkt" { // packets are looked for in scratch, for every reference
			ref.Local = Scratch
		}
		return read{f.places(rank, block, o, ref, packet, size), packet}
	}
	ready := func(x read) bool {
		for _, l := range x.from {
			for _, p := range l {
				if p.flag != nil && *p.flag != now {
					return false
				}
			}
		}
		return true
	}
	write := func(ref Ref, packet bool, values []float64) {
		for _, l := range f.places(rank, block, o, ref, packet, len(values)) {
			for i, v := range values {
				*l[i].value = v
				if packet && l[i].flag != nil {
					*l[i].flag = now
				}
			}
		}
	}
	sum := func(size int, parts ...read) []float64 {
		values := make([]float64, size)
		for _, x := range parts {
			for _, l := range x.from {
				for i := range l {
					values[i] += *l[i].value
				}
			}
		}
		return values
	}
	size := f.size(op.Src[0], o)
	switch op.Name {
	case "put", "pws", "pwsf", "ppkt", "get", "rppkt":
		for i := range op.Dst {
			from := op.Src[min(i, len(op.Src)-1)]
			n := f.size(op.Dst[i], o)
			to := op.Dst[i]
			if op.Name == "get" {
				n = f.size(from, o)
				from.Index, to.Index = to.Index, from.Index
			}
			packets := op.Name == "ppkt" || op.Name == "rppkt"
			raw := op.Name == "rppkt" || op.Name == "ppkt" && op.Type == PortChannel
			if raw {
				n = f.size(op.Src[0], o)
			}
			x := get(from, raw, n)
			if op.Name == "rppkt" && !ready(x) {
				return false
			}
			if op.Type != PortChannel {
				write(to, packets, sum(n, x))
				continue
			}
			channel := list[op.Channels[i]]
			r.later(r.blocks[block], channel, func() {
				write(to, packets, sum(n, x))
				if op.Name == "pws" || op.Name == "pwsf" {
					f.signal(rank, op.Type, channel)
				}
			})
		}
		return true
	case "repkt", "respkt", "recpkt", "recspkt", "upkt", "gstorepkt":
		whole := op.Name == "upkt" || op.Name == "gstorepkt" // all of it is packets
		var parts []read
		for i, ref := range op.Src {
			x := get(ref, i > 0 || whole, size)
			if x.packet && !ready(x) {
				return false
			}
			parts = append(parts, x)
		}
		values := sum(size, parts...)
		most := map[string]int{"repkt": 1, "upkt": 1, "recpkt": 2}[op.Name]
		for i, ref := range op.Dst {
			if most == 0 || i < most {
				write(ref, i > 0 || op.Name == "gstorepkt", values)
			}
		}
		return true
	}
	var parts []read
	for _, ref := range op.Src {
		parts = append(parts, get(ref, false, size))
	}
	values := sum(size, parts...)
	to := op.Dst
	if slices.Contains([]string{"re", "rre"}, op.Name) {
		to = to[:1]
	}
	for _, ref := range to {
		write(ref, op.Name == "cpkt", values)
	}
	return true
}
