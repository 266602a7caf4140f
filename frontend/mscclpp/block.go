package mscclpp

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kernbench/internal/near"
)

func (d *reader) block(g *GPU, v *value, path string, place int) Block {
	o := d.object(v, path, "id", "ops", "channels", "remote_buffer_refs")
	var b Block
	if o.err != nil {
		return b
	}
	o.same("id", place)
	o.need("channels", isArray)
	o.list("channels", func(v *value, path string) {
		o := d.object(v, path, "channel_type", "channel_ids", "buff")
		if o.err != nil {
			return
		}
		o.need("channel_ids", isArray)
		switch ChannelType(o.word("channel_type", channelTypes)) {
		case MemoryChannel:
			b.Memory = append(b.Memory, o.ids("channel_ids", len(g.Memory), "memory channels of the GPU")...)
		case PortChannel:
			b.Port = append(b.Port, o.ids("channel_ids", len(g.Port), "port channels of the GPU")...)
		case SwitchType:
			b.Switch = append(b.Switch, o.ids("channel_ids", len(g.Switch), "switch channels of the GPU")...)
		}
	})
	o.list("remote_buffer_refs", func(v *value, path string) {
		o := d.object(v, path, "access_channel_type", "remote_buffer_ids")
		if o.err != nil {
			return
		}
		o.need("remote_buffer_ids", isArray)
		ids := o.ids("remote_buffer_ids", len(g.Remote), "remote buffers of the GPU")
		switch ChannelType(o.word("access_channel_type", channelTypes)) {
		case MemoryChannel:
			b.MemoryRefs = append(b.MemoryRefs, ids...)
		case PortChannel:
			b.PortRefs = append(b.PortRefs, ids...)
		}
	})
	for _, n := range []int{len(b.Memory), len(b.Port), len(b.Switch), len(b.MemoryRefs), len(b.PortRefs)} {
		if n > maxChannels {
			o.fail(v.at, path, "found %d channels or remote buffers of one type, the executor has space for %d", n, maxChannels)
		}
	}
	o.need("ops", isArray)
	b.Ops = d.ops(&b, g, o, false)
	n := 0
	for _, op := range b.Ops {
		n += 1 + len(op.Ops)
	}
	if n > maxOps {
		o.fail(v.get("ops").at, o.at("ops"), "found %d operations, the executor has space for %d", n, maxOps)
	}
	return b
}

// ids returns an array of places in a list of n.
func (o object) ids(key string, n int, what string) []int {
	var out []int
	o.list(key, func(v *value, path string) {
		if v.kind != isNumber {
			o.fail(v.at, path, "found %v, want a number", v.kind)
			return
		}
		id, err := v.integer(0, math.MaxUint32)
		if err != nil {
			o.fail(v.at, path, "%v", err)
		} else if id >= uint64(n) {
			o.fail(v.at, path, "found %d, there are %d %s", id, n, what)
		}
		out = append(out, int(id))
	})
	return out
}

// ops reads the operations of a block or, if inner, of a pipeline.
func (d *reader) ops(b *Block, g *GPU, o object, inner bool) []Op {
	var out []Op
	o.list("ops", func(v *value, path string) { out = append(out, d.op(b, g, v, path, inner)) })
	return out
}

func (d *reader) op(b *Block, g *GPU, v *value, path string, inner bool) Op {
	o := d.object(v, path, "name", "channel_ids", "channel_type", "src_buff", "dst_buff", "tbg_info", "barrier_id",
		"num_threadblocks", "semaphore_ids", "reduce_op", "iter_context", "ops", "ctype")
	var op Op
	name := o.need("name", isString)
	if name == nil {
		return op
	}
	op.Name, op.Parts = name.text, 1
	op.Line, op.Column = d.lines.position(v.at)
	s, ok := shapes[op.Name]
	switch {
	case op.Name == "glre":
		o.fail(name.at, o.at("name"),
			`"glre" is what the language emits and the executor's parser rejects: use glres, or a reduction over memory channels`)
	case !ok:
		guess := near.Name(op.Name, slices.Sorted(maps.Keys(shapes)))
		if guess != "" {
			guess = fmt.Sprintf("; did you mean %q?", guess)
		}
		o.fail(name.at, o.at("name"), "%q is not an operation of the executor%s", op.Name, guess)
	case inner && op.Name == "pipeline":
		o.fail(name.at, o.at("name"), "a pipeline within a pipeline, which the executor does not carry out")
	}
	if o.err != nil {
		return op
	}
	if r := o.maybe("reduce_op", isString); r != nil && r.text != "sum" {
		o.note("reduce_op", r.at, fmt.Sprintf("%s: the executor ignores reduce_op %q and always sums", o.at("reduce_op"), r.text))
	}
	if o.maybe("channel_type", isString) != nil {
		op.Type = ChannelType(o.word("channel_type", channelTypes))
	}
	if len(s.types) > 0 && !slices.Contains(s.types, op.Type) {
		var want []string
		for _, t := range s.types {
			want = append(want, t.String())
		}
		o.fail(v.at, o.at("channel_type"), "%s over a channel of type %v, want %s", op.Name, op.Type, strings.Join(want, " or "))
	}
	if s.channels {
		lists := [][]int{nil, b.Memory, b.Port, b.Switch}
		op.Channels = o.ids("channel_ids", len(lists[op.Type]), op.Type.String()+" channels of the thread block")
	}
	if len(op.Channels) > maxOpChannels {
		o.fail(v.get("channel_ids").at, o.at("channel_ids"), "found %d channels, the executor has space for %d",
			len(op.Channels), maxOpChannels)
	}
	o.parts(&op)
	op.Src = o.refs("src_buff", b, &op, s.src)
	op.Dst = o.refs("dst_buff", b, &op, s.dst)
	o.check(&op)
	switch op.Name {
	case "barrier":
		op.Barrier = o.int("barrier_id", 0, maxBarriers-1)
		op.Blocks = o.int("num_threadblocks", 1, large)
	case "sem_acquire", "sem_release":
		o.need("semaphore_ids", isArray)
		op.Semaphores = o.ids("semaphore_ids", len(g.Semaphores), "semaphores of the GPU")
		if n := len(op.Semaphores); n > maxSemaphores {
			o.fail(v.get("semaphore_ids").at, o.at("semaphore_ids"),
				"found %d semaphores, an operation of the executor has space for %d", n, maxSemaphores)
		}
	case "pipeline":
		context := o.need("iter_context", isObject)
		o.need("ops", isArray)
		if o.err != nil {
			return op
		}
		c := d.object(context, o.at("iter_context"), "unit_size", "num_chunks")
		op.UnitSize = uint64(c.int("unit_size", 1, math.MaxUint32))
		op.NumChunks = c.int("num_chunks", 0, large)
		op.Ops = d.ops(b, g, o, true)
	}
	return op
}

// parts reads tbg_info.
func (o object) parts(op *Op) {
	v := o.maybe("tbg_info", isObject)
	if v == nil {
		return
	}
	t := o.object(v, o.at("tbg_info"), "tb_id", "tbg_size")
	if t.err != nil {
		return
	}
	op.Parts = t.int("tbg_size", 1, large)
	op.Part = t.int("tb_id", 0, uint64(max(op.Parts, 1)-1))
}

func (o object) refs(key string, b *Block, op *Op, least int) []Ref {
	var out []Ref
	n := o.list(key, func(v *value, path string) {
		r := o.reader.object(v, path, "type", "buffer_id", "switch_channel_id", "index", "size")
		if r.err == nil {
			out = append(out, r.ref(b, op))
		}
	})
	if o.err == nil && (n < least || n > maxRefs) {
		o.fail(o.v.at, o.at(key), "%s has %d of them, want %d to %d", op.Name, n, least, maxRefs)
	}
	return out
}

func (o object) ref(b *Block, op *Op) Ref {
	r := Ref{Remote: -1, Switch: -1}
	r.Line, _ = o.lines.position(o.v.at)
	named := 0
	if o.maybe("type", isString) != nil {
		r.Local = o.buffer("type")
		named++
	}
	if v := o.maybe("buffer_id", isNumber); v != nil {
		lists := [][]int{nil, b.MemoryRefs, b.PortRefs, nil}
		if op.Type != MemoryChannel && op.Type != PortChannel {
			o.fail(v.at, o.at("buffer_id"), "a remote buffer over a channel of type %v, want memory or port", op.Type)
		}
		r.Remote = o.place(v, "buffer_id", len(lists[op.Type]), op.Type.String()+" remote buffers of the thread block")
		named++
	}
	if v := o.maybe("switch_channel_id", isNumber); v != nil {
		r.Switch = o.place(v, "switch_channel_id", len(b.Switch), "switch channels of the thread block")
		named++
	}
	if named != 1 {
		o.fail(o.v.at, o.path, "%d of type, buffer_id and switch_channel_id, want one", named)
	}
	r.Index = o.int("index", 0, large)
	r.Size = o.int("size", 0, large)
	return r
}

// place reads an index into a list of n.
func (o object) place(v *value, key string, n int, what string) int {
	id := o.number(v, key, 0, math.MaxUint32)
	if o.err == nil && id >= uint64(n) {
		o.fail(v.at, o.at(key), "found %d, there are %d %s", id, n, what)
	}
	return int(id)
}

// check returns an error unless each reference is of the sort that the operation expects. The
// executor reads any reference as that sort.
func (o object) check(op *Op) {
	want := func(key string, refs []Ref, i int, sort string) {
		if o.err != nil || i >= len(refs) {
			return
		}
		if got := refs[i].sort(); got != sort {
			at := o.v.get(key).value.items[i].at
			o.fail(at, fmt.Sprintf("%s[%d]", o.at(key), i), "%s takes a %s buffer here, found a %s one", op.Name, sort, got)
		}
	}
	all := func(key string, refs []Ref, from int, sort string) {
		for i := from; i < len(refs); i++ {
			want(key, refs, i, sort)
		}
	}
	src, dst := "local", "local" // of the first
	switch op.Name {
	case "put", "pws", "pwsf", "ppkt", "rppkt":
		dst = "remote"
	case "get":
		src = "remote"
	case "glres":
		src, dst = "switch", "switch"
	case "gstore", "gstorepkt":
		dst = "switch"
	}
	srcs, dsts, from := src, dst, 1 // of the others
	switch op.Name {
	case "rre", "rres":
		srcs = "remote"
	}
	switch op.Name {
	case "res", "rres", "respkt":
		dsts = "remote"
	case "recspkt":
		want("dst_buff", op.Dst, 1, "local")
		dsts, from = "remote", 2
	}
	want("src_buff", op.Src, 0, src)
	want("dst_buff", op.Dst, 0, dst)
	all("src_buff", op.Src, 1, srcs)
	all("dst_buff", op.Dst, from, dsts)
	o.counts(op)
}

// counts checks that related lists have equal lengths.
func (o object) counts(op *Op) {
	unequal := func(a, b int, what string) {
		if a != b {
			o.fail(o.v.at, o.path, "%s has %d %s and %d of dst_buff, want as many", op.Name, a, what, b)
		}
	}
	switch op.Name {
	case "put", "pws", "pwsf", "ppkt", "get":
		unequal(len(op.Src), len(op.Dst), "of src_buff")
	}
	switch op.Name {
	case "put", "pws", "pwsf", "ppkt", "rppkt":
		if op.Type == PortChannel {
			unequal(len(op.Channels), len(op.Dst), "channels")
		}
	}
}

func (r Ref) sort() string {
	switch {
	case r.Remote >= 0:
		return "remote"
	case r.Switch >= 0:
		return "switch"
	}
	return "local"
}
