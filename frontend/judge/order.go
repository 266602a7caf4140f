package judge

// order records the order of the steps: each event, and the events of other blocks that precede it.
// Events are numbered in an order that agrees with it.
type order struct {
	block []int32 // of each event
	from  []int32 // of each event: where its list in joins begins
	joins []int32
}

// step adds an event of a block.
func (o *order) step(b int32) int32 {
	o.block = append(o.block, b)
	o.from = append(o.from, int32(len(o.joins)))
	return int32(len(o.block) - 1)
}

// after records that the last event comes after e.
func (o *order) after(e int32) {
	if e != noEvent {
		o.joins = append(o.joins, e)
	}
}

// befores returns the events of other blocks that precede an event.
func (o *order) befores(e int) []int32 {
	if e+1 < len(o.from) {
		return o.joins[o.from[e]:o.from[e+1]]
	}
	return o.joins[o.from[e]:]
}

// clocks holds an entry for each event and for some blocks. It is the number plus 1 of the block's
// last event up to that event, or 0 if there is none.
type clocks struct {
	width int
	at    []int32
}

// clocksOf finds the clocks of all events with regard to the blocks for which place is not
// negative. It considers only events for which follow returns true; the others order nothing.
func (o *order) clocksOf(place []int32, width int, blocks int, events []int32) *clocks {
	c := &clocks{width: width}
	last := make([]int32, blocks) // row of the last event of each block, plus 1
	row := map[int32]int32{}      // of an event, where events are some
	rows := len(o.block)
	if events != nil {
		rows = len(events)
	}
	c.at = make([]int32, rows*width)
	for i := range rows {
		e := int32(i)
		if events != nil {
			e = events[i]
			row[e] = int32(i)
		}
		own := c.at[i*width:][:width]
		b := o.block[e]
		if before := last[b]; before > 0 {
			copy(own, c.at[int(before-1)*width:][:width])
		}
		for _, f := range o.befores(int(e)) {
			r := f
			if events != nil {
				var in bool
				if r, in = row[f]; !in {
					continue
				}
			}
			for k, t := range c.at[int(r)*width:][:width] {
				own[k] = max(own[k], t)
			}
		}
		if p := place[b]; p >= 0 {
			own[p] = e + 1
		}
		last[b] = int32(i) + 1
	}
	return c
}
