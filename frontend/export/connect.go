package export

import (
	"fmt"
	"slices"

	"kernbench/frontend/msccl"
)

// Between two ranks there may be several connections. Each belongs to one block of both ranks,
// since an end of a ring does. A port of a rank is a peer and the number of a connection with it,
// as one number: connection * ranks + peer. Connections of the same two ranks have different
// channels.

// connect replaces the streams of all operations by ports. Streams of the same two blocks share a
// connection if both blocks have their messages in the same order.
func (c *carrier) connect() {
	type ends struct{ from, fromBlock, to, toBlock int }
	of := func(s int) ends {
		x := &c.streams[s]
		return ends{x.from, x.fromBlock, x.to, x.toBlock}
	}
	sent, taken := map[ends][]int{}, map[ends][]int{}
	for r := range c.ranks {
		for _, o := range c.ranks[r].ops {
			if o.to != none {
				sent[of(o.to)] = append(sent[of(o.to)], o.to)
			}
			if o.from != none {
				taken[of(o.from)] = append(taken[of(o.from)], o.from)
			}
		}
	}
	number := make([]int, len(c.streams)) // of the connection
	shared := map[ends]int{}
	next := map[[2]int]int{}
	for s := range c.streams {
		e := of(s)
		a, b := sent[e], taken[e]
		n := min(len(a), len(b))
		if i, is := shared[e]; is && slices.Equal(a[:n], b[:n]) {
			number[s] = i
			continue
		}
		number[s] = next[[2]int{e.from, e.to}]
		next[[2]int{e.from, e.to}]++
		shared[e] = number[s]
	}
	for r := range c.ranks {
		for i := range c.ranks[r].ops {
			o := &c.ranks[r].ops[i]
			if o.to != none {
				o.to = number[o.to]*len(c.ranks) + c.streams[o.to].to
			}
			if o.from != none {
				o.from = number[o.from]*len(c.ranks) + c.streams[o.from].from
			}
		}
	}
}

// MostChannels is the largest number of channels of a file of MSCCL.
const MostChannels = 32

// errShared is returned if one block would need two channels.
var errShared = fmt.Errorf("a thread block has one channel, and its connections need several")

// channels gives the blocks of all ranks their channels. Both ends of a connection have the same,
// and two connections of the same two ranks have not. Send and Recv of blocks are ports. It returns
// the number of channels.
func channels(ranks [][]msccl.TB) (most int, _ error) {
	type connection struct{ from, to, number int }
	type place struct{ rank, block int }
	at := func(r, port int, sends bool) connection {
		if sends {
			return connection{r, port % len(ranks), port / len(ranks)}
		}
		return connection{port % len(ranks), r, port / len(ranks)}
	}
	users := map[connection][]place{}
	for r := range ranks {
		for b, tb := range ranks[r] {
			if tb.Send >= 0 {
				users[at(r, tb.Send, true)] = append(users[at(r, tb.Send, true)], place{r, b})
			}
			if tb.Recv >= 0 {
				users[at(r, tb.Recv, false)] = append(users[at(r, tb.Recv, false)], place{r, b})
			}
		}
	}
	taken := map[[2]int][]int{} // channels of the connections between two ranks
	done := map[place]bool{}
	for r := range ranks {
		for b := range ranks[r] {
			if done[place{r, b}] {
				continue
			}
			// Blocks that connections join have one channel.
			group, has := []place{{r, b}}, map[connection]bool{}
			done[place{r, b}] = true
			var pairs [][2]int
			for i := 0; i < len(group); i++ {
				p := group[i]
				tb := &ranks[p.rank][p.block]
				for _, c := range []connection{at(p.rank, tb.Send, true), at(p.rank, tb.Recv, false)} {
					if c.number < 0 || c.from < 0 || c.to < 0 || has[c] {
						continue
					}
					has[c] = true
					pair := [2]int{c.from, c.to}
					if slices.Contains(pairs, pair) {
						return 0, errShared
					}
					pairs = append(pairs, pair)
					for _, q := range users[c] {
						if !done[q] {
							done[q] = true
							group = append(group, q)
						}
					}
				}
			}
			n := 0
			for slices.ContainsFunc(pairs, func(p [2]int) bool { return slices.Contains(taken[p], n) }) {
				n++
			}
			for _, p := range pairs {
				taken[p] = append(taken[p], n)
			}
			for _, p := range group {
				ranks[p.rank][p.block].Channel = n
			}
			most = max(most, n+1)
		}
	}
	return most, nil
}
