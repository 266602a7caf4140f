package race

// mostChoices is the largest number of updates whose choices are tried one by one.
const mostChoices = 10

// differ reports whether it matters which updates add up to a value, and whether they can be tried
// out. If all add the same, only their number matters.
func differ(opt []*event) bool {
	if len(opt) > mostChoices {
		return false
	}
	for _, u := range opt[min(1, len(opt)):] {
		if u.value() != opt[0].value() {
			return true
		}
	}
	return false
}

// choose finds the facts that hold in every choice of updates with exactly this sum. It returns
// false if there is no such choice.
func (d *Detector) choose(opt []*event, sum int64, y *knowledge) bool {
	var needs [mostChoices]uint // by update, those that are certain to be there before it
	for i, u := range opt {
		for k, o := range opt {
			if i != k && d.before(o, u, &u.clk) {
				needs[i] |= 1 << k
			}
		}
	}
	found := false
	for set := uint(1); set < 1<<len(opt); set++ {
		have, whole := int64(0), true
		for i, u := range opt {
			if set>>i&1 != 0 {
				have += u.value()
				whole = whole && needs[i]&^set == 0
			}
		}
		if have != sum || !whole {
			continue
		}
		c := y
		if found {
			c = &d.learning.choice
			c.reset()
		}
		for i, u := range opt {
			if set>>i&1 != 0 {
				c.whole(&d.clockPool, &u.clk)
				c.cover(u.link, u.before)
				c.sure = append(c.sure, u)
			}
		}
		if found {
			d.common(y, c)
		}
		found = true
	}
	return found
}
