package collective

// Shared returns where a rank's contribution and its result begin in the memory that they share in
// place. It also returns how many elements that memory needs on any rank.
func (co *Collective) Shared(c Call, rank int) (in, out, size int) {
	for r := range c.World {
		i, o := 0, 0
		if co.InPlace != nil {
			i, o = co.InPlace(c, r)
		}
		if r == rank {
			in, out = i, o
		}
		size = max(size, i+co.In(c, r), o+co.Out(c, r))
	}
	return in, out, size
}
