package msccl

import (
	"bufio"
	"fmt"
	"io"

	"kernbench/frontend/plan"
)

// Algorithm is an algorithm to write.
type Algorithm struct {
	Name       string
	Collective string // canonical
	Protocol   plan.Protocol
	Chunks     int // nchunksperloop
	InPlace    bool
	MaxBytes   int64 // of a call; 0: no limit
	GPUs       []GPU
}

// GPU is a rank: the numbers of chunks of its buffers, and its blocks.
type GPU struct {
	Input, Output, Scratch int // chunks
	Blocks                 []TB
}

// TB is a thread block: its peers, -1 for none, and its channel.
type TB struct {
	Send, Recv, Channel int
	Steps               []Step
}

// Step is a step, with types and buffers named as in the file. DepBlock is -1 without a dependency.
type Step struct {
	Type              string
	SrcBuf, DstBuf    byte // i, o, s
	SrcOff, DstOff    int
	Count             int
	DepBlock, DepStep int
	HasDep            bool
}

// everySize is maxBytes of a file for calls of any size. It is not 0, because one runtime takes 0
// as no limit and another one rejects all sizes.
const everySize = 1 << 40

// Write writes an algorithm as XML that every runtime reads.
func Write(w io.Writer, a *Algorithm) error {
	coll := ""
	for _, name := range []string{"allreduce", "allgather", "reduce", "broadcast", "alltoall", "reduce_scatter"} {
		if collectives[name] == a.Collective {
			coll = name
		}
	}
	if coll == "" {
		return fmt.Errorf("MSCCL XML has no collective %s", a.Collective)
	}
	channels := map[int]bool{}
	for _, g := range a.GPUs {
		for _, tb := range g.Blocks {
			channels[tb.Channel] = true
		}
	}
	b := bufio.NewWriter(w)
	maxBytes := a.MaxBytes
	if maxBytes == 0 {
		maxBytes = everySize
	}
	in, out := number(a.InPlace), number(!a.InPlace)
	fmt.Fprintf(b,
		"<algo name=\"%s\" proto=\"%v\" nchannels=\"%d\" nchunksperloop=\"%d\" ngpus=\"%d\" coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"0\" maxBytes=\"%d\">\n",
		a.Name, a.Protocol, len(channels), a.Chunks, len(a.GPUs), coll, in, out, maxBytes)
	for id, g := range a.GPUs {
		fmt.Fprintf(b, "  <gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"%d\">\n", id, g.Input, g.Output, g.Scratch)
		for t, tb := range g.Blocks {
			fmt.Fprintf(b, "    <tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", t, tb.Send, tb.Recv, tb.Channel)
			for s, st := range tb.Steps {
				fmt.Fprintf(b,
					"      <step s=\"%d\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%d\" dstbuf=\"%c\" dstoff=\"%d\" cnt=\"%d\" depid=\"%d\" deps=\"%d\" hasdep=\"%d\"/>\n",
					s, st.Type, st.SrcBuf, st.SrcOff, st.DstBuf, st.DstOff, st.Count, st.DepBlock, st.DepStep, number(st.HasDep))
			}
			b.WriteString("    </tb>\n")
		}
		b.WriteString("  </gpu>\n")
	}
	b.WriteString("</algo>\n")
	return b.Flush()
}
