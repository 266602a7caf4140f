package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"kernbench/lab/explain"
	"kernbench/lab/plans"
	"kernbench/lab/view"
	"kernbench/report"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// compareWith explains a run, and the same run with other flags, and compares the two.
func (a *app) compareWith(cmd *cobra.Command, x *explaining) error {
	var before explaining
	f := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	if err := before.flags(f); err != nil {
		return err
	}
	// The flags of this run come first: where a flag has one value, the last one counts.
	var own []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch v := flag.Value.(type) {
		case pflag.SliceValue:
			for _, s := range v.GetSlice() {
				own = append(own, "--"+flag.Name+"="+s)
			}
		default:
			own = append(own, "--"+flag.Name+"="+v.String())
		}
	})
	words, err := splitWords(x.against)
	if err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	if err := f.Parse(append(own, words...)); err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	if len(f.Args()) > 0 {
		return fmt.Errorf("--against: found %q, want flags", f.Args()[0])
	}
	if before.whatIf != "" {
		return errors.New("--what-if and --against: give one of them")
	}
	if file := before.spec.Run.Program; file != "" && plans.Foreign(file) {
		return fmt.Errorf("--against: %s is a program of another tool, and has no critical path to compare", file)
	}
	to, err := x.page.begin()
	if err != nil {
		return err
	}
	defer to.discard()
	names := [2]string{x.against, "this run"}
	var reports [2]*explain.Report
	var pictured [2]*view.Run
	for i, e := range []*explaining{&before, x} {
		s := e.spec
		s.Rank, s.From, s.Until = e.rank.rank, e.between.from, e.between.until
		bar := newProgress(a.err)
		s.Run.Progress, s.Run.Command = bar.report, a.commandLine()
		p, r, _, err := x.page.observe(cmd.Context(), s, [2]string{x.against, ""}[i]) // the page has the name
		bar.done()
		if err != nil {
			return interrupted(cmd.Context(), err)
		}
		reports[i], pictured[i] = r, p
	}
	if err := a.writeRuns(to, reports[1].MadeBy, pictured[:]...); err != nil {
		return err
	}
	return a.compared(x, reports, names)
}

// compareFiles compares two reports that were written as JSON.
func (a *app) compareFiles(x *explaining) error {
	var reports [2]*explain.Report
	for i, name := range x.files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if reports[i], err = explain.Parse(data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if x.page.file != "" {
		to, err := x.page.begin()
		if err != nil {
			return err
		}
		defer to.discard()
		if err := a.writeRuns(to, reports[1].MadeBy, view.Explanation(reports[0], x.files[0]),
			view.Explanation(reports[1], x.files[1])); err != nil {
			return err
		}
	}
	return a.compared(x, reports, [2]string(x.files))
}

func (a *app) compared(x *explaining, reports [2]*explain.Report, names [2]string) error {
	c := explain.Compare(reports[0], reports[1], names, x.tolerance.percent)
	if err := show(a, x.format, c, report.Compared(x.top)); err != nil {
		return err
	}
	if c.Slower {
		return errWrong
	}
	return nil
}

// splitWords cuts a line into words at blanks. Quoted text stays together.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, within := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, within = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(c)
			within = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c without its end in %q", quote, line)
	}
	if within {
		words = append(words, word.String())
	}
	return words, nil
}

// tolerance is a flag with a percentage.
type tolerance struct{ percent *float64 }

func (t *tolerance) Type() string { return "PERCENT" }

func (t *tolerance) String() string {
	if t.percent == nil {
		return ""
	}
	return strconv.FormatFloat(*t.percent, 'g', -1, 64) + "%"
}

func (t *tolerance) Set(s string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")), 64)
	if err != nil || !(v >= 0 && v <= 1e6) {
		return fmt.Errorf("found %q, want a number of percent from 0 on, such as 5%%", s)
	}
	t.percent = &v
	return nil
}
