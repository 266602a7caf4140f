package tl

// Rails are the channels of a call that leave and enter a node by links of their own. Each channel
// is a block of its rank, and moves its share of the data. A channel has the ranks of a ring or
// tree in an order of its own: that of ranks, turned around in each node. So the first rank of a
// node is another one in each channel, and a message to it goes over the rail of that rank.
//
// The zero Rails is one channel, in the order of ranks.
type Rails struct {
	Count int // of channels; 0 or 1: one
	Node  int // ranks of a node
}

// Place returns the place of a rank in the order of a channel.
func (r Rails) Place(rank, channel int) int { return r.turn(rank, -r.first(channel)) }

// Rank returns the rank at a place in the order of a channel.
func (r Rails) Rank(place, channel int) int { return r.turn(place, r.first(channel)) }

// first returns the rank of a node that is the first one in a channel, counted within the node.
func (r Rails) first(channel int) int {
	if r.Count <= 1 {
		return 0
	}
	return channel * r.Node / r.Count
}

// turn moves a place by some places around in its node.
func (r Rails) turn(place, by int) int {
	if by == 0 {
		return place
	}
	in := place % r.Node
	return place - in + (in+by+r.Node)%r.Node
}

// Channel returns the number of the channel that this kernel runs, among those of Args.Rails.
func (c *Context) Channel() int { return c.block }
