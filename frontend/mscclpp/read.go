package mscclpp

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"kernbench/internal/near"
)

// MaxFile is the largest plan that Read takes, in bytes.
const MaxFile = 256 << 20

// Error is why a plan cannot be read: a place, what was found, and what would be right.
type Error struct {
	File         string
	Line, Column int
	Key          string // where in the plan: gpus[0].threadblocks[1].ops[2].name
	Reason       string
}

// Error returns file, line, column, key and reason.
func (e *Error) Error() string {
	where := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Key != "" {
		where += e.Key + ": "
	}
	return where + e.Reason
}

// Read reads a plan. A mistake is an *Error with name as its file.
func Read(name string, r io.Reader) (*Plan, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, err
	}
	d := &reader{file: name, lines: newLines(data)}
	if len(data) > MaxFile {
		return nil, d.error(0, "", fmt.Sprintf("more than %d bytes", MaxFile))
	}
	root, err := parseJSON(data)
	if err != nil {
		s, _ := errors.AsType[*syntaxError](err)
		return nil, d.error(s.at, "", s.reason)
	}
	p := &Plan{File: name}
	d.plan(p, root)
	if d.err != nil {
		return nil, d.err
	}
	for _, sort := range slices.Sorted(maps.Keys(d.noted)) {
		p.Notes = append(p.Notes, d.noted[sort])
	}
	return p, nil
}

// reader turns JSON values into a Plan. After the first mistake it does nothing any more.
type reader struct {
	file  string
	lines lines
	err   *Error
	noted map[string]string // notes, by what they are of
}

func (d *reader) error(at int, key, reason string) *Error {
	line, column := d.lines.position(at)
	return &Error{File: d.file, Line: line, Column: column, Key: key, Reason: reason}
}

func (d *reader) fail(at int, key, format string, args ...any) {
	if d.err == nil {
		d.err = d.error(at, key, fmt.Sprintf(format, args...))
	}
}

// object is a JSON object, being read, and where it is in the plan.
type object struct {
	*reader
	path string
	v    *value
}

// object reads v as an object with some of the known keys.
func (d *reader) object(v *value, path string, known ...string) object {
	o := object{d, path, v}
	if v.kind != isObject {
		d.fail(v.at, path, "found %v, want an object", v.kind)
		return o
	}
	for _, m := range v.members {
		if !slices.Contains(known, m.key) {
			o.unknown(m, known)
		}
	}
	return o
}

// older are keys of the schema that the executor read up to v0.7.
var older = map[string]string{
	"colletive": "v0.5", "inputChunks": "v0.7", "outputChunks": "v0.7", "scratchChunks": "v0.7", "chunkGroups": "v0.7",
	"num_chunk_groups": "v0.7", "i_chunks": "v0.7", "o_chunks": "v0.7", "s_chunks": "v0.7",
	"ctype": "v0.7", "i_buff": "v0.7", "o_buff": "v0.7", "i_cids": "v0.7", "o_cids": "v0.7",
	"srcbuff": "v0.7", "dstbuff": "v0.7", "srcoff": "v0.7", "dstoff": "v0.7", "connectedTo": "v0.7",
}

// unknown notes a key that the executor does not read, or refuses one of an older schema.
func (o object) unknown(m member, known []string) {
	if version, ok := older[m.key]; ok {
		o.fail(m.at, o.at(m.key), "this key is of the schema up to %s, which v0.8 replaced: make the plan anew", version)
		return
	}
	text := o.at(m.key) + ": the executor ignores this key"
	if guess := near.Name(m.key, known); guess != "" {
		text += fmt.Sprintf("; did you mean %q?", guess)
	}
	o.note("key "+m.key, m.at, text)
}

// note keeps a note unless there is one of its sort already.
func (d *reader) note(sort string, at int, text string) {
	if _, ok := d.noted[sort]; ok {
		return
	}
	if d.noted == nil {
		d.noted = map[string]string{}
	}
	line, column := d.lines.position(at)
	d.noted[sort] = fmt.Sprintf("%s:%d:%d: %s", d.file, line, column, text)
}

// at returns the path of a key.
func (o object) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// need returns the value of a key, which must be there and of the kind.
func (o object) need(key string, kind valueKind) *value {
	if v := o.maybe(key, kind); v != nil || o.err != nil {
		return v
	}
	for _, m := range o.v.members {
		// The switch channels of plans before v0.8 had "buff".
		if key == "buffer_type" && m.key == "buff" {
			o.fail(m.at, o.at(m.key), `found "buff", want "buffer_type": the executor's parser rejects this plan, which is older than it`)
			return nil
		}
	}
	o.fail(o.v.at, o.path, "%q is missing", key)
	return nil
}

// maybe returns the value of a key, or nil without it.
func (o object) maybe(key string, kind valueKind) *value {
	m := o.v.get(key)
	if m == nil || o.err != nil {
		return nil
	}
	if m.value.kind != kind {
		o.fail(m.at, o.at(key), "found %v, want %v", m.value.kind, kind)
		return nil
	}
	return m.value
}

func (o object) text(key string) string {
	if v := o.need(key, isString); v != nil {
		return v.text
	}
	return ""
}

// word returns the place of a text in a list of words.
func (o object) word(key string, words []string) int {
	v := o.need(key, isString)
	if v == nil {
		return 0
	}
	i := slices.Index(words, v.text)
	if i < 0 {
		o.fail(v.at, o.at(key), "found %q, want %s", v.text, strings.Join(words, ", "))
		return 0
	}
	return i
}

func (o object) truth(key string, without bool) bool {
	if v := o.maybe(key, isBool); v != nil {
		return v.truth
	}
	return without
}

func (o object) number(v *value, key string, least, most uint64) uint64 {
	if v == nil {
		return 0
	}
	n, err := v.integer(least, most)
	if err != nil {
		o.fail(v.at, o.at(key), "%v", err)
	}
	return n
}

// int reads a key that must be there.
func (o object) int(key string, least, most uint64) int {
	return int(o.number(o.need(key, isNumber), key, least, most))
}

// intOr reads a key that need not be there.
func (o object) intOr(key string, without, least, most uint64) uint64 {
	if v := o.maybe(key, isNumber); v != nil {
		return o.number(v, key, least, most)
	}
	return without
}

// list calls do for each item of an array. Without the key it does nothing, as the
// executor does.
func (o object) list(key string, do func(v *value, path string)) int {
	v := o.maybe(key, isArray)
	if v == nil {
		return 0
	}
	for i, item := range v.items {
		if o.err == nil {
			do(item, fmt.Sprintf("%s[%d]", o.at(key), i))
		}
	}
	return len(v.items)
}

// ints returns an array of integers below most.
func (o object) ints(key string, most uint64) []int {
	var out []int
	o.list(key, func(v *value, path string) {
		if v.kind != isNumber {
			o.fail(v.at, path, "found %v, want a number", v.kind)
			return
		}
		n, err := v.integer(0, most)
		if err != nil {
			o.fail(v.at, path, "%v", err)
		}
		out = append(out, int(n))
	})
	return out
}

const large = math.MaxInt32

func (d *reader) plan(p *Plan, root *value) {
	o := d.object(root, "", "name", "collective", "protocol", "inplace", "reuse_resources", "num_threads_per_block",
		"use_double_scratch_buffer", "buffer_alignment", "min_message_size", "max_message_size", "gpus")
	if o.err != nil {
		return
	}
	p.Name = o.text("name")
	p.Collective = o.text("collective")
	p.Packets = o.word("protocol", []string{"Simple", "LL"}) == 1
	if o.need("inplace", isBool) != nil {
		p.InPlace = o.truth("inplace", false)
	}
	p.ReuseResources = o.truth("reuse_resources", false)
	p.Threads = int(o.intOr("num_threads_per_block", 1024, 1, 1024))
	p.DoubleScratch = o.truth("use_double_scratch_buffer", false)
	p.Alignment = int(o.intOr("buffer_alignment", 16, 1, 1<<20))
	p.MinBytes = o.intOr("min_message_size", 0, 0, math.MaxUint64)
	p.MaxBytes = o.intOr("max_message_size", math.MaxUint64, p.MinBytes, math.MaxUint64)
	gpus := o.need("gpus", isArray)
	if gpus != nil && (len(gpus.items) == 0 || len(gpus.items) > 1<<16) {
		o.fail(gpus.at, "gpus", "found %d GPUs, want 1 to %d", len(gpus.items), 1<<16)
	}
	o.list("gpus", func(v *value, path string) {
		p.GPUs = append(p.GPUs, d.gpu(v, path, len(p.GPUs), len(gpus.items)))
	})
}

func (d *reader) gpu(v *value, path string, rank, world int) GPU {
	o := d.object(v, path, "id", "input_chunks", "output_chunks", "scratch_chunks", "threadblocks", "channels",
		"remote_buffers", "semaphores")
	var g GPU
	if o.err != nil {
		return g
	}
	o.same("id", rank)
	g.ScratchChunks = o.int("scratch_chunks", 0, large)
	o.need("channels", isArray)
	o.list("channels", func(v *value, path string) { d.channel(&g, v, path, rank, world) })
	o.need("remote_buffers", isArray)
	o.list("remote_buffers", func(v *value, path string) {
		o := d.object(v, path, "rank", "type", "access_channel_types")
		if o.err != nil {
			return
		}
		g.Remote = append(g.Remote, RemoteBuffer{o.peer("rank", rank, world), o.buffer("type")})
		if types := o.need("access_channel_types", isArray); types != nil {
			for i, t := range types.items {
				if t.kind != isString || !slices.Contains(channelTypes, t.text) {
					o.fail(t.at, fmt.Sprintf("%s.access_channel_types[%d]", path, i), "want one of %s", strings.Join(channelTypes, ", "))
				}
			}
		}
	})
	o.list("semaphores", func(v *value, path string) {
		if o := d.object(v, path, "init_value"); o.err == nil {
			g.Semaphores = append(g.Semaphores, o.int("init_value", 0, large))
		}
	})
	o.need("threadblocks", isArray)
	o.list("threadblocks", func(v *value, path string) { g.Blocks = append(g.Blocks, d.block(&g, v, path, len(g.Blocks))) })
	g.InputChunks = o.chunks("input_chunks")
	g.OutputChunks = o.chunks("output_chunks")
	return g
}

// same reads an id that must be the place in its list.
func (o object) same(key string, want int) {
	if v := o.need(key, isNumber); v != nil && o.number(v, key, 0, large) != uint64(want) {
		o.fail(v.at, o.at(key), "found %s, want %d: ids count the places in their list", v.text, want)
	}
}

// chunks reads a number that the executor divides by.
func (o object) chunks(key string) int {
	v := o.need(key, isNumber)
	if v == nil {
		return 0
	}
	n := o.number(v, key, 0, large)
	if n == 0 && o.err == nil {
		o.fail(v.at, o.at(key), "found 0, want 1 or more: the executor divides the message size by it")
	}
	return int(n)
}

func (o object) buffer(key string) Buffer {
	return []Buffer{Input, Output, Scratch}[o.word(key, []string{"i", "o", "s"})]
}

// peer reads another rank.
func (o object) peer(key string, rank, world int) int {
	v := o.need(key, isNumber)
	return o.peerOf(v, o.at(key), rank, world)
}

func (d *reader) peerOf(v *value, path string, rank, world int) int {
	if v == nil {
		return 0
	}
	n, err := v.integer(0, uint64(world-1))
	if err != nil {
		d.fail(v.at, path, "%v: there are %d GPUs", err, world)
	} else if int(n) == rank {
		d.fail(v.at, path, "found %d, the GPU itself, want another rank", n)
	}
	return int(n)
}

// channel reads one entry of a GPU's channels, which may be several channels.
func (d *reader) channel(g *GPU, v *value, path string, rank, world int) {
	o := d.object(v, path, "channel_type", "connected_to", "buffer_type", "rank_groups")
	if o.err != nil {
		return
	}
	switch t := ChannelType(o.word("channel_type", channelTypes)); t {
	case SwitchType:
		buffer := o.buffer("buffer_type")
		o.need("rank_groups", isArray)
		o.list("rank_groups", func(v *value, path string) {
			o := d.object(v, path, "size", "ranks")
			if o.err != nil {
				return
			}
			ranks := o.need("ranks", isArray)
			c := SwitchChannel{buffer, o.ints("ranks", uint64(world-1))}
			if size := o.int("size", 0, large); o.err == nil &&
				(size != len(c.Ranks) || !slices.Contains(c.Ranks, rank) || repeats(c.Ranks)) {
				o.fail(ranks.at, o.at("ranks"),
					"found %v with size %d, want that many ranks, each once, with %d among them", c.Ranks, size, rank)
			}
			g.Switch = append(g.Switch, c)
		})
	default:
		o.need("connected_to", isArray)
		o.list("connected_to", func(v *value, path string) {
			if v.kind != isNumber {
				o.fail(v.at, path, "found %v, want a number", v.kind)
				return
			}
			peer := d.peerOf(v, path, rank, world)
			switch t {
			case MemoryChannel:
				g.Memory = append(g.Memory, peer)
			case PortChannel:
				g.Port = append(g.Port, peer)
			}
		})
	}
}

func repeats(list []int) bool {
	s := slices.Sorted(slices.Values(list))
	return len(slices.Compact(s)) < len(list)
}
