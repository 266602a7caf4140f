package frontend_test

import (
	"encoding/xml"
	"math"
	"math/rand/v2"
)

// An interpreter of MSCCL XML on floats that shares nothing with the packages under test. It
// executes blocks in random order, with channels of finite depth.

type xmlAlgo struct {
	Proto   string   `xml:"proto,attr"`
	Chunks  int      `xml:"nchunksperloop,attr"`
	N       int      `xml:"ngpus,attr"`
	Coll    string   `xml:"coll,attr"`
	InPlace int      `xml:"inplace,attr"`
	GPUs    []xmlGPU `xml:"gpu"`
}

type xmlGPU struct {
	ID      int     `xml:"id,attr"`
	Scratch int     `xml:"s_chunks,attr"`
	TBs     []xmlTB `xml:"tb"`
}

type xmlTB struct {
	ID    int       `xml:"id,attr"`
	Send  int       `xml:"send,attr"`
	Recv  int       `xml:"recv,attr"`
	Chan  int       `xml:"chan,attr"`
	Steps []xmlStep `xml:"step"`
}

type xmlStep struct {
	Type   string `xml:"type,attr"`
	SrcBuf string `xml:"srcbuf,attr"`
	SrcOff int    `xml:"srcoff,attr"`
	DstBuf string `xml:"dstbuf,attr"`
	DstOff int    `xml:"dstoff,attr"`
	Count  int    `xml:"cnt,attr"`
	DepID  int    `xml:"depid,attr"`
	Deps   int    `xml:"deps,attr"`
	HasDep int    `xml:"hasdep,attr"`
}

// floatRun executes a file with whole messages and reports whether every output is that of the
// collective. Root is that of broadcast and reduce.
func floatRun(text []byte, root int, rng *rand.Rand) bool {
	var a xmlAlgo
	if xml.Unmarshal(text, &a) != nil || len(a.GPUs) != a.N {
		return false
	}
	in, out := a.Chunks, a.Chunks
	switch a.Coll {
	case "allgather":
		in /= a.N
	case "reduce_scatter":
		out /= a.N
	}
	inputs := make([][]float64, a.N)
	memory := make([]map[string][]float64, a.N)
	for r := range a.N {
		inputs[r] = make([]float64, in)
		for c := range inputs[r] {
			inputs[r][c] = 1 + rng.Float64()
		}
		m := map[string][]float64{"i": make([]float64, in), "o": make([]float64, out)}
		if a.InPlace == 1 {
			whole := make([]float64, max(in, out))
			for c := range whole {
				whole[c] = math.NaN()
			}
			m["i"], m["o"] = whole, whole
			if in < out {
				m["i"] = whole[r*in : (r+1)*in]
			} else if out < in {
				m["o"] = whole[r*out : (r+1)*out]
			}
		} else {
			for c := range m["o"] {
				m["o"][c] = math.NaN()
			}
		}
		copy(m["i"], inputs[r])
		memory[r] = m
	}
	depth := 8
	if a.Proto == "Simple" {
		depth = 2
	}
	type channel struct{ from, to, id int }
	queues := map[channel][][]float64{}
	type thread struct {
		rank, at int
		tb       *xmlTB
	}
	var threads []*thread
	flags := map[[2]int]int{}
	for g := range a.GPUs {
		gpu := &a.GPUs[g]
		s := make([]float64, gpu.Scratch)
		for c := range s {
			s[c] = math.NaN()
		}
		memory[gpu.ID]["s"] = s
		for t := range gpu.TBs {
			threads = append(threads, &thread{gpu.ID, 0, &gpu.TBs[t]})
			flags[[2]int{gpu.ID, gpu.TBs[t].ID}] = -1
		}
	}
	step := func(th *thread) bool {
		s := &th.tb.Steps[th.at]
		if s.DepID >= 0 && flags[[2]int{th.rank, s.DepID}] < s.Deps {
			return false
		}
		if s.Type == "nop" {
			th.at++
			return true
		}
		from, to := channel{th.tb.Recv, th.rank, th.tb.Chan}, channel{th.rank, th.tb.Send, th.tb.Chan}
		takes := s.Type[0] == 'r' && s.Type != "re"
		sends := s.Type[len(s.Type)-1] == 's'
		if takes && len(queues[from]) == 0 || sends && len(queues[to]) >= depth {
			return false
		}
		value := make([]float64, s.Count)
		if takes {
			if copy(value, queues[from][0]); len(queues[from][0]) != s.Count {
				value[0] = math.NaN()
			}
			queues[from] = queues[from][1:]
		}
		src, dst := memory[th.rank][s.SrcBuf], memory[th.rank][s.DstBuf]
		for c := range value {
			switch s.Type {
			case "s", "cpy":
				value[c] = src[s.SrcOff+c]
			case "rrs", "rrc", "rrcs":
				value[c] += src[s.SrcOff+c]
			case "re":
				value[c] = dst[s.DstOff+c] + src[s.SrcOff+c]
			}
		}
		if s.Type != "s" && s.Type != "rrs" {
			copy(dst[s.DstOff:], value)
		}
		if sends {
			queues[to] = append(queues[to], value)
		}
		if s.HasDep == 1 {
			flags[[2]int{th.rank, th.tb.ID}] = th.at
		}
		th.at++
		return true
	}
	for {
		var open []*thread
		for _, th := range threads {
			if th.at < len(th.tb.Steps) {
				open = append(open, th)
			}
		}
		if len(open) == 0 {
			break
		}
		rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		moved := false
		for _, th := range open {
			for n := rng.IntN(3) + 1; n > 0 && th.at < len(th.tb.Steps) && step(th); n-- {
				moved = true
			}
		}
		if !moved {
			return false
		}
	}
	for _, q := range queues {
		if len(q) > 0 {
			return false
		}
	}
	for r := range a.N {
		for c := range out {
			want, asked := 0.0, true
			sum := func(cell int) (total float64) {
				for q := range a.N {
					total += inputs[q][cell]
				}
				return total
			}
			switch a.Coll {
			case "allreduce":
				want = sum(c)
			case "reduce":
				want, asked = sum(c), r == root
			case "broadcast":
				want = inputs[root][c]
			case "allgather":
				want = inputs[c/in][c%in]
			case "reduce_scatter":
				want = sum(r*out + c)
			case "alltoall":
				want = inputs[c/(in/a.N)][r*(in/a.N)+c%(in/a.N)]
			}
			if got := memory[r]["o"][c]; asked && !(math.Abs(got-want) < 1e-9*want) {
				return false
			}
		}
	}
	return true
}
