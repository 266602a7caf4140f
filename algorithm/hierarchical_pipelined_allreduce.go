package algorithm

import (
	"math"

	"kernbench/tl"
)

// hierarchicalPipelinedAllReduce is hierarchicalRingAllReduce with all levels at work at the same
// time. The vector is cut in parts. Each part is one level behind the previous part. While it is
// reduced, on the way out, a part goes east around the rings. While it is gathered, on the way
// back, it goes west. So no two parts ever share a direction of a level.
//
// A rank sends while it still holds the slot that it received into, so n_slots must be at least 2.
func hierarchicalPipelinedAllReduce(c *tl.Context, a tl.Args) {
	dims := levelCircles(c, &a)
	mine, out := a.Shard(c.Rank()), a.Out(c.Rank(), a.NElem)
	if len(dims) == 0 {
		move(c, out, mine)
		return
	}
	parts := levelParts(&a, dims)
	for i, p := range parts {
		p.from, p.block, p.most = mine.Chunk(len(parts), i), out.Chunk(len(parts), i), tl.CDiv(a.NElem, len(parts))
	}
	for range 2*len(dims) + len(parts) - 1 {
		bucketRound(c, &a, parts, func(p *bucketPart) *ringPipeline {
			stage := p.stage
			p.stage++
			switch {
			case stage < 0 || stage >= 2*len(dims):
				return nil
			case stage < len(dims):
				l := p.reduce(stage, false, c.WorldSize())
				l.partial = stage < len(dims)-1
				return l
			}
			return p.gather(2*len(dims) - 1 - stage)
		})
	}
}

// mostParts limits the number of parts. With more parts, messages are shorter.
const mostParts = 32

// levelParts returns the parts. Each begins a stage after the previous part.
func levelParts(a *tl.Args, dims []levelCircle) []*bucketPart {
	parts := make([]*bucketPart, countLevelParts(a, dims))
	for i := range parts {
		parts[i] = &bucketPart{back: true, dims: dims, stage: -i}
	}
	return parts
}

// countLevelParts returns the number of parts. With P of them and D levels a vector of M bytes
// takes 2D+P-1 rounds of alpha + beta M/(n P). n is the number of pieces of a part on the innermost
// level. The time is least for P = sqrt((2D-1) beta M/(n alpha)).
func countLevelParts(a *tl.Args, dims []levelCircle) int {
	latency := float64(max(a.LatencyBytes, 1))
	bytes := float64(a.NElem) * float64(a.DType.Size()) / float64(dims[0].n)
	if a.ChunkBytes > 0 {
		return max(1, min(mostParts, int(math.Ceil(bytes/float64(a.ChunkBytes)))))
	}
	return max(1, min(mostParts, int(math.Round(math.Sqrt(float64(2*len(dims)-1)*bytes/latency)))))
}

// HierarchicalPipelinedAllReduce takes as long as its slowest level, for long vectors.
var HierarchicalPipelinedAllReduce = Register(Algorithm{
	Name:       "hierarchical_pipelined_allreduce",
	Summary:    "parts of the vector go one after the other through all levels of the machine and back, on rings: all levels are busy at the same time",
	Collective: "all_reduce",
	Topology:   "hierarchical",
	Kernel:     hierarchicalPipelinedAllReduce,
	MinSlots:   2,
	Pipelined:  true,
	Steps:      "2D + P - 1 rounds of at most n_k - 1 for P parts and D levels",
	Cost:       "(2D + P - 1) max_k((n_k - 1) (alpha_k + beta_k M/(n_0 n_1 ... n_k P))): 2(N-1)/N M bytes per rank, of which 2M/n_0 leave a cube",
	Source:     "the levels: Cho, Finkler, Serrano, Kung, Hunter, BlueConnect, MLSys 2019; chunks that are on different levels at a time: Rashidi, Won, Srinivasan, Sridharan, Krishna, Themis: a network bandwidth-aware collective scheduling policy for distributed training of DL models, ISCA 2022",
})
