package tl

// Failing returns the first word of a wait or test that does not satisfy it, searched cyclically
// from number at on; -1 if all do.
func (x *OneSided) Failing(at int) int {
	held := x.Win.Words(int(x.Peer))
	for k := range x.Words {
		i := at + k
		if i >= len(x.Words) {
			i -= len(x.Words)
		}
		word := x.Words[i]
		if x.Count > 0 && !x.Win.HasLines(x.Peer, word, x.Value, x.From, x.Count) ||
			x.Count == 0 && !x.Cmp.Holds(x.WordType, held[word], x.Value) {
			return i
		}
	}
	return -1
}

// Awaits reports whether a wait for words on one PE may depend on the kernel of another PE. It
// depends on every member of the team that has not ended. In a rendezvous it depends on the members
// that have not reached it, ended or not.
func (x *OneSided) Awaits(pe, other int32, ended bool) bool {
	t := x.Win.Team
	member, ok := t.Rank(int(other))
	if ok && x.Win == t.Meeting {
		me, _ := t.Rank(int(pe))
		return t.Met[member] < t.Met[me]
	}
	return ok && other != pe && !ended
}

// Call returns the name of the instruction in the kernel API, for reports: put_signal_nbi.
func (in *Instr) Call() string {
	x := in.Side
	switch in.Op {
	case OpPut:
		name := "put"
		switch {
		case x.Atomic:
			name = "put_combine"
		case x.Lines == LineLL128:
			name = "put_ll128"
		case x.Lines == LineLL:
			name = "put_ll"
		case x.Signal:
			name = "put_signal"
		}
		if x.NBI {
			name += "_nbi"
		}
		return name
	case OpGet:
		if x.NBI {
			return "get_nbi"
		}
	case OpWaitWord, OpNotify:
		if x.Win == x.Win.Team.Meeting {
			return "sync"
		}
		switch {
		case x.Count > 0:
			return "wait_lines"
		case x.Lines != NoLine:
			return "wait_ll"
		}
	}
	return in.Op.String()
}
