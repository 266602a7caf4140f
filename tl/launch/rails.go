package launch

import "kernbench/tl"

// OnRails gives each rank of a group one block for each channel. The rings of a block connect it to
// its neighbours in the order of the channel. Before the call, Wiring is indexed by the place in
// that order. It is the same for all channels.
func (g *Group) OnRails(rails tl.Rails) {
	channels := max(1, rails.Count)
	if channels == 1 {
		return
	}
	g.Args.Rails = rails
	g.Wiring = OnRails(g.Wiring, rails)
	g.Blocks = make([]Block, 0, len(g.Wiring))
	for rank := range g.PEs {
		for channel := range channels {
			g.Blocks = append(g.Blocks, Block{Rank: rank, Number: channel, Of: channels})
		}
	}
}

// OnRails returns the wiring of the blocks of a group: block i is channel i%Count of rank i/Count.
// byPlace is the wiring of each place in the order of a channel. It is the same for all channels.
func OnRails(byPlace []tl.Wiring, rails tl.Rails) []tl.Wiring {
	all := make([]tl.Wiring, len(byPlace)*rails.Count)
	for channel := range rails.Count {
		block := func(place int32) int32 {
			return int32(rails.Rank(int(place), channel)*rails.Count + channel)
		}
		for place := range byPlace {
			w := &all[block(int32(place))]
			for _, o := range byPlace[place].Out {
				o.Peer = block(o.Peer)
				w.Out = append(w.Out, o)
			}
			for _, in := range byPlace[place].In {
				in.Peer = block(in.Peer)
				w.In = append(w.In, in)
			}
		}
	}
	return all
}
