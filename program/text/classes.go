package text

import (
	"slices"
)

// Classes joins blocks that differ in nothing but first elements and peers into one, with columns
// for these. Blocks of several ranks stay as they are.
func (f *File) Classes() {
	var joined []*Block
	var keys []string                // of joined
	classes := map[string][]*Block{} // blocks of one rank, by what they have in common
	for _, b := range f.Blocks {
		if len(b.Ranks) != 1 {
			joined, keys = append(joined, b), append(keys, "")
			continue
		}
		key := f.common(b)
		if classes[key] == nil {
			joined, keys = append(joined, b), append(keys, key) // its class takes its place
		}
		classes[key] = append(classes[key], b)
	}
	for i, key := range keys {
		if key != "" {
			joined[i] = join(classes[key])
		}
	}
	f.Blocks = joined
}

// Only returns the file with the blocks of one rank, without columns.
func (f *File) Only(rank int) *File {
	one := *f
	one.Blocks = nil
	for _, b := range f.Blocks {
		if i := slices.Index(b.Ranks, int32(rank)); i >= 0 {
			one.Blocks = append(one.Blocks, b.single(i))
		}
	}
	return &one
}

// nums calls do for each number of a statement that ranks of a class may differ in.
func (s *Stmt) nums(do func(n *Num)) {
	for i := range s.In {
		if s.In[i].Tensor >= 0 {
			do(&s.In[i].From)
		}
	}
	for _, p := range []*Place{&s.Mem, &s.From} {
		if p.Buffer == NoBuffer {
			continue
		}
		do(&p.From)
		if p.Far {
			do(&p.Peer)
		}
	}
	if s.Grouped {
		do(&s.Group)
	}
	if w := s.Words; w != nil && s.Op != Sync {
		do(&w.First)
		if w.Far && s.Op == Notify { // that of a put is its destination's
			do(&w.Peer)
		}
	}
}

// own returns a copy of a statement that shares no number with it.
func (s *Stmt) own() Stmt {
	c := *s
	if s.Words != nil {
		w := *s.Words
		c.Words = &w
	}
	return c
}

// settled makes the peer of a put's signal that of its destination.
func (s *Stmt) settled() {
	if s.Words != nil && (s.Op == Put || s.Op == PutRef) {
		s.Words.Far, s.Words.Peer = s.Mem.Far, s.Mem.Peer
	}
}

// common returns what blocks of a class have in common: the text without the numbers that may
// differ.
func (f *File) common(b *Block) string {
	blank := &Block{Number: b.Number, Stmts: make([]Stmt, len(b.Stmts))}
	var key []byte
	sc := printer{f.newScope()}
	for i := range b.Stmts {
		s := b.Stmts[i].own()
		s.nums(func(n *Num) { *n = Num{Col: 1} })
		s.settled()
		key = append(append(key, sc.stmt(&s)...), '\n')
		sc.apply(&s)
	}
	return string(append(key, blank.title()...))
}

// join makes one block of some of one rank each that have all in common.
func join(all []*Block) *Block {
	first := all[0]
	if len(all) == 1 {
		return first
	}
	b := &Block{Number: first.Number, Stmts: make([]Stmt, len(first.Stmts)), line: first.line, cells: first.cells}
	for _, o := range all {
		b.Ranks = append(b.Ranks, o.Ranks[0])
	}
	columns := map[string]int32{}
	for i := range first.Stmts {
		s := first.Stmts[i].own()
		var values [][]int32 // by number of the statement
		for _, o := range all {
			k := 0
			o.Stmts[i].nums(func(n *Num) {
				if k == len(values) {
					values = append(values, nil)
				}
				v := n.N
				if n.Col > 0 {
					v = o.Columns[n.Col-1][0]
				}
				values[k] = append(values[k], v)
				k++
			})
		}
		k := 0
		s.nums(func(n *Num) {
			*n = b.column(values[k], columns)
			k++
		})
		s.settled()
		b.Stmts[i] = s
	}
	return b
}

// column returns a number of the ranks' values: a new column, or one that is there.
func (b *Block) column(values []int32, known map[string]int32) Num {
	if same := slices.Max(values) == slices.Min(values); same {
		return Num{N: values[0]}
	}
	key := make([]byte, 0, 4*len(values))
	for _, v := range values {
		key = append(key, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	at, ok := known[string(key)]
	if !ok {
		b.Columns = append(b.Columns, values)
		at = int32(len(b.Columns))
		known[string(key)] = at
	}
	return Num{Col: at}
}

// single returns the block of one of its ranks, without columns.
func (b *Block) single(index int) *Block {
	o := &Block{Ranks: b.Ranks[index : index+1], Number: b.Number, Stmts: make([]Stmt, len(b.Stmts)), line: b.line, cells: b.cells}
	for i := range b.Stmts {
		s := b.Stmts[i].own()
		s.nums(func(n *Num) { *n = Num{N: int32(b.At(*n, index))} })
		s.settled()
		o.Stmts[i] = s
	}
	return o
}
