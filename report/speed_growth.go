package report

import (
	"fmt"
	"io"
	"strings"

	"kernbench/selfbench"
)

// Growth prints how simulating each algorithm grows with the number of ranks.
func Growth(w io.Writer, g *selfbench.Growth) error {
	t := growthTable(g)
	if err := t.Write(w); err != nil {
		return err
	}
	return growthFoot(w, g)
}

// GrowthMarkdown prints the same as Markdown.
func GrowthMarkdown(w io.Writer, g *selfbench.Growth) error {
	t := growthTable(g)
	if err := t.Markdown(w); err != nil {
		return err
	}
	if err := growthFoot(w, g); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+madeByMarkdown(g.MadeBy))
	return err
}

func growthTable(g *selfbench.Growth) *Table {
	t := &Table{Head: []string{"algorithm", "collective", ">CPU", ">messages", ">events", ">up to ranks", ">CPU then",
		">messages then", ">events each", ">CPU each", "why no further"}}
	for i := range g.Rows {
		r := &g.Rows[i]
		cells := []string{r.Algorithm, r.Collective, power(r.Time), power(r.Messages), power(r.Events)}
		if len(r.Points) == 0 {
			cells = append(cells, "", "", "", "", "")
		} else {
			p := r.Points[len(r.Points)-1]
			events, each := "-", "-"
			if p.Messages > 0 {
				events, each = significant(float64(p.Events)/float64(p.Messages)), amount(selfbench.Seconds, p.Seconds/float64(p.Messages))
			}
			cells = append(cells, count(int64(p.Ranks)), amount(selfbench.Seconds, p.Seconds), count(p.Messages), events, each)
		}
		t.Add(append(cells, shortened(r.Note))...)
	}
	return t
}

// shortened cuts a note so that the line fits. JSON has all of it.
func shortened(s string) string {
	const most = 72
	if r := []rune(s); len(r) > most {
		return strings.TrimRight(string(r[:most]), " ") + " ..."
	}
	return s
}

// power prints an exponent of the number of ranks.
func power(e *float64) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("N^%.2f", max(*e, 0)) // and not N^-0.00
}

func growthFoot(w io.Writer, g *selfbench.Growth) error {
	_,
		err := fmt.Fprintf(w,
		"\n%s f16 per rank, fidelity %s; exponents of the last three numbers of ranks; messages are those of slots, puts, gets and updates of words\n%s",
		count(int64(g.Elements)), g.Fidelity, whereAndWhen(&g.Origin))
	return err
}
