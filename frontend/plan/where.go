package plan

import "fmt"

// Where names a step in the words of its file: rank, block, step, operation, line.
func (p *Plan) Where(rank, block, step int) string {
	b := &p.Ranks[rank].Blocks[block]
	if step >= len(b.Steps) {
		return fmt.Sprintf("rank %d %s, after its last step", rank, b.Name())
	}
	s := &b.Steps[step]
	text := fmt.Sprintf("rank %d %s step %d (%s)", rank, b.Name(), s.Index, s.Op)
	if s.Name != "" {
		text = fmt.Sprintf("rank %d %s (%s)", rank, s.Name, s.Op)
	}
	if s.Line > 0 {
		text += fmt.Sprintf(" at line %d", s.Line)
	}
	if s.Launch > 0 {
		text += fmt.Sprintf(" in launch %d", s.Launch+1)
	}
	return text
}

// Name returns the name of the block in reports.
func (b *Block) Name() string {
	name := fmt.Sprintf("tb %d", b.ID)
	if b.Label != "" {
		name += " " + b.Label
	}
	return name
}

// ChannelName names a channel by its ends and its number.
func (p *Plan) ChannelName(c int) string {
	ch := p.Channels[c]
	return fmt.Sprintf("%d->%d chan %d", ch.From, ch.To, ch.ID)
}

// SpanName names a range of cells: "o[3]", "rank 2 s[0:4]".
func (p *Plan) SpanName(rank int, s Span) string {
	text := ""
	if s.Rank != None && s.Rank != rank {
		rank = s.Rank
		text = fmt.Sprintf("rank %d ", rank)
	}
	return text + Cells(p.Ranks[rank].Views[s.View].Name, s.First, s.N)
}

// Cells names n cells of a view.
func Cells(view string, first, n int) string {
	if n == 1 {
		return fmt.Sprintf("%s[%d]", view, first)
	}
	return fmt.Sprintf("%s[%d:%d]", view, first, first+n)
}

// CellName names a cell of a rank's memory by the first view that shows it.
func (p *Plan) CellName(rank, memory, cell int) string {
	for _, v := range p.Ranks[rank].Views {
		if v.Memory == memory && cell >= v.First && cell < v.First+v.Cells {
			return Cells(v.Name, cell-v.First, 1)
		}
	}
	return fmt.Sprintf("memory %d[%d]", memory, cell)
}
