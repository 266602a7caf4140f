package topology

// RingStep returns which chunks a rank sends to the next rank and receives from the previous one in
// a step of a ring reduce-scatter. Chunks are numbered 0 to world-1, and steps 0 to world-2:
//
//	send = rank-step, recv = rank-step-1   (mod world)
//
// After the last step rank holds chunk rank+1 (mod world) reduced. An algorithm that must end with
// chunk rank uses the steps of rank-1.
func RingStep(rank, step, world int) (send, recv int) {
	return mod(rank-step, world), mod(rank-step-1, world)
}

// RingGatherStep returns the same for the all-gather that follows: it starts from chunk rank+1
// and ends when all are there.
//
//	send = rank+1-step, recv = rank-step   (mod world)
func RingGatherStep(rank, step, world int) (send, recv int) {
	return mod(rank+1-step, world), mod(rank-step, world)
}

// TreeStep returns rank's place in the binary tree of TreeBinary. It has the parent, -1 at the
// root, and the children, of which there are at most two.
func TreeStep(rank, world int) (parent int, children []int) {
	parent = -1
	if rank > 0 {
		parent = (rank - 1) / 2
	}
	for c := 2*rank + 1; c <= 2*rank+2 && c < world; c++ {
		children = append(children, c)
	}
	return parent, children
}

func mod(a, n int) int {
	if a %= n; a < 0 {
		a += n
	}
	return a
}
