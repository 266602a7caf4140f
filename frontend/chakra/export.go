package chakra

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/program/text"
	"kernbench/tl"
)

// Export makes the traces of all ranks of a program. A message is a COMM_SEND_NODE and a
// COMM_RECV_NODE with a tag of its own, arithmetic is a COMP_NODE. A node depends on the nodes
// whose result it uses, and on the rank's last receive or addition before it. The reason is that a
// kernel continues directly after a send. A trace cannot express loads and stores of the rank's own
// memory, the data of a message, rings, slots and credits. They are left out. The blocks of a rank
// are chains of nodes. If a block waits for a word that another block of the rank changes, its next
// nodes depend on the nodes before that change. attrs go into the
// metadata, and so do the statements of the rank. With them the data can be judged when the traces
// are read again.
func Export(f *text.File, attrs ...Attr) ([]*Trace, error) {
	traces, err := nodes(f)
	if err != nil {
		return nil, err
	}
	for rank, t := range traces {
		var source strings.Builder
		if err := f.Only(rank).Write(&source); err != nil {
			return nil, err
		}
		t.Metadata = Metadata{Version: exportVersion,
			Attrs: append(slices.Clone(attrs), Attr{Name: recordedAttr, Value: NewText(source.String())})}
	}
	return traces, nil
}

// nodes makes the nodes of all ranks.
func nodes(f *text.File) ([]*Trace, error) {
	traces := make([]*Trace, f.World)
	for rank := range traces {
		traces[rank] = &Trace{}
	}
	several := slices.ContainsFunc(f.Blocks, func(b *text.Block) bool { return b.Number > 0 })
	blocks := make([][]*exporter, f.World)
	for _, b := range f.Blocks {
		for i, rank := range b.Ranks {
			e := &exporter{file: f, block: b, index: i, rank: int(rank), trace: traces[rank], made: map[int32]uint64{},
				count: map[port]int{}, posted: map[tl.Dir][]uint64{}}
			blocks[rank] = append(blocks[rank], e)
		}
	}
	for _, all := range blocks {
		w := words{}
		if !several {
			w = nil
		}
		slices.SortFunc(all, func(x, y *exporter) int { return x.block.Number - y.block.Number })
		if err := carry(all, w); err != nil {
			return nil, err
		}
	}
	return traces, nil
}

// carry makes the nodes of the blocks of a rank, in an order that the program allows.
func carry(blocks []*exporter, w words) error {
	for moved := true; moved; {
		moved = false
		for _, e := range blocks {
			for e.at < len(e.block.Stmts) && !w.blocks(e) {
				s := &e.block.Stmts[e.at]
				if err := e.statement(s, w); err != nil {
					return e.mistake(s, err)
				}
				e.at++
				moved = true
			}
		}
	}
	var stuck []string
	var first *exporter
	for _, e := range blocks {
		if e.at == len(e.block.Stmts) {
			continue
		}
		if first == nil {
			first = e
		}
		stuck = append(stuck, fmt.Sprintf("block %d waits for ever at %s", e.block.Number, e.file.Statement(e.block, e.at)))
	}
	if first == nil {
		return nil
	}
	return first.mistake(&first.block.Stmts[first.at], fmt.Errorf("rank %d %s", first.rank, strings.Join(stuck, "; ")))
}

// mistake adds to an error the place of a statement of a file.
func (e *exporter) mistake(s *text.Stmt, err error) error {
	if s.Line == 0 {
		return err
	}
	return &text.Error{File: e.file.Name, Line: int(s.Line), Msg: err.Error()}
}

// exportVersion is the version of the schema that exported traces follow.
const exportVersion = "0.0.4"

// exporter makes the nodes of a block of a rank.
type exporter struct {
	file   *text.File
	block  *text.Block
	index  int // of the rank in the block
	at     int
	rank   int
	trace  *Trace
	made   map[int32]uint64 // nodes that made a tensor
	behind []uint64         // nodes before every later node
	count  map[port]int     // messages of each ring so far
	posted map[tl.Dir][]uint64
}

// port is an end of a ring.
type port struct {
	out bool
	dir tl.Dir
}

func (e *exporter) statement(s *text.Stmt, w words) error {
	bytes := int64(s.Shape.Elems()) * int64(s.Type.Size())
	switch s.Op {
	case text.Load, text.Store, text.Full, text.Fence, text.Quiet, text.PipeBarrier:
		return nil
	case text.Send, text.SendRef:
		w := &e.file.Wiring[e.rank]
		i := w.OutIndex(s.Dir)
		if i < 0 {
			return fmt.Errorf("rank %d sends to %v, where it has no ring", e.rank, s.Dir)
		}
		out := w.Out[i]
		into := e.file.Wiring[out.Peer].In[out.PeerIn].Dir
		e.add(s, CommSendNode, fmt.Sprintf("send %v", s.Dir), e.message("comm_dst", int(out.Peer), port{true, s.Dir}, into, bytes))
	case text.Recv, text.RecvTo, text.RecvAsync:
		w := &e.file.Wiring[e.rank]
		i := slices.IndexFunc(w.In, func(p tl.InPort) bool { return p.Dir == s.Dir })
		if i < 0 {
			return fmt.Errorf("rank %d receives from %v, where it has no ring", e.rank, s.Dir)
		}
		id := e.add(s, CommRecvNode, fmt.Sprintf("recv %v", s.Dir),
			e.message("comm_src", int(w.In[i].Peer), port{false, s.Dir}, s.Dir, bytes))
		if s.Op == text.RecvAsync {
			e.posted[s.Dir] = append(e.posted[s.Dir], id)
			return nil
		}
		e.finish(s, id)
		e.behind = []uint64{id}
	case text.Wait:
		q := e.posted[s.Dir]
		if len(q) == 0 {
			return fmt.Errorf("rank %d waits for a receive from %v that it has not posted", e.rank, s.Dir)
		}
		e.posted[s.Dir] = q[1:]
		e.finish(s, q[0])
		e.behind = append(e.behind, q[0])
	case text.Binary, text.Scale, text.Unary, text.FMA, text.Clamp, text.Convert, text.Reduce, text.Softmax, text.Transpose, text.Dot:
		id := e.add(s, CompNode, "compute", []Attr{
			{Name: "num_ops", Value: NewInt(Int64, int64(s.Shape.Elems()))},
			{Name: "tensor_size", Value: NewInt(Uint64, bytes)},
		})
		e.finish(s, id)
		e.behind = []uint64{id}
	case text.Notify, text.WaitUntil:
		if w == nil || s.Words.Far {
			return fmt.Errorf("rank %d has an operation on a window: traces have only sends and receives", e.rank)
		}
		if s.Op == text.Notify {
			w.notify(e, s)
		} else {
			w.wait(e, s)
		}
	default:
		return fmt.Errorf("rank %d has an operation on a window: traces have only sends and receives", e.rank)
	}
	return nil
}

// message returns the attributes of a send or receive. The k-th message of a ring has the same tag
// at both ends, and no other message between the two ranks has it.
func (e *exporter) message(peerName string, peer int, end port, into tl.Dir, bytes int64) []Attr {
	tag := e.count[end]*tags + int(into)
	e.count[end]++
	return []Attr{
		{Name: "comm_size", Value: NewInt(Int64, bytes)},
		{Name: peerName, Value: NewInt(Int32, int64(peer))},
		{Name: "comm_tag", Value: NewInt(Int32, int64(tag))},
	}
}

// tags is more than the number of directions.
const tags = 256

// add appends a node and returns its id.
func (e *exporter) add(s *text.Stmt, typ NodeType, name string, attrs []Attr) uint64 {
	n := Node{ID: uint64(len(e.trace.Nodes)), Name: name, Type: typ, CtrlDeps: slices.Clone(e.behind), Attrs: attrs}
	for _, in := range s.In {
		if id, ok := e.made[in.Tensor]; ok && in.Tensor >= 0 && !slices.Contains(n.DataDeps, id) {
			n.DataDeps = append(n.DataDeps, id)
		}
	}
	e.trace.Nodes = append(e.trace.Nodes, n)
	return n.ID
}

// finish notes which node made the tensor of a statement.
func (e *exporter) finish(s *text.Stmt, id uint64) {
	if s.Dst >= 0 {
		e.made[s.Dst] = id
	}
}
