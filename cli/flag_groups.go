package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a group of flags with one purpose, by name.
type flagGroup struct {
	title string
	main  []string // described in the help
	more  []string // named there, and described by --help-all
}

// flagGroups are the groups of flags that several verbs have. Any other flag belongs to the verb
// itself.
var flagGroups = []flagGroup{
	{"Machine", []string{"topology", "set", "nodes", "platform", "fidelity"}, []string{"ccl", "launch"}},
	{"Program", []string{"bench", "algorithm", "program", "ranks", "n-elem", "dtype", "op"},
		[]string{"tuning", "device", "input", "seed"}},
	{"Checks", []string{"verify-data", "race", "seeds"}, []string{"schedule", "repair"}},
	{"Output", []string{"format", "explain", "links", "trace", "report", "plot"},
		[]string{"report-window", "trace-ranks", "trace-from", "trace-to", "trace-plain", "pointers"}},
	{"Programs of other tools", nil, []string{"bytes", "in-place", "depth"}},
	{"Limits", nil, []string{"mem", "stall", "max-events", "max-time"}},
	{"Profiles of kernbench", nil, []string{"cpuprofile", "memprofile"}},
}

const helpWidth = 110

// helpAll is the flag that shows the help with all flags.
type helpAll struct{ flags *pflag.FlagSet }

func (helpAll) Type() string   { return "bool" }
func (helpAll) String() string { return "" }

func (h helpAll) Set(string) error { return h.flags.Set("help", "true") }

// groupFlags lets the help of all verbs show flags by purpose.
func groupFlags(root *cobra.Command) {
	lists := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		if cmd.HasAvailableSubCommands() {
			return lists(cmd)
		}
		return usage(cmd, cmd.OutOrStderr())
	})
	addHelpAll(root)
}

// addHelpAll adds --help-all to each verb below cmd whose help only names some flags.
func addHelpAll(cmd *cobra.Command) {
	for _, verb := range cmd.Commands() {
		f := verb.Flags()
		if verb.HasSubCommands() {
			addHelpAll(verb)
		} else if slices.ContainsFunc(flagGroups, func(g flagGroup) bool {
			return slices.ContainsFunc(g.more, func(name string) bool { return f.Lookup(name) != nil })
		}) {
			f.Var(helpAll{f}, "help-all", "help with all flags")
			f.Lookup("help-all").NoOptDefVal = "true"
		}
	}
}

// usage writes the usage of a verb: its line, examples, and flags by purpose.
func usage(cmd *cobra.Command, w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	all := cmd.Flags().Changed("help-all")
	texts := flagTexts(cmd.LocalFlags())
	own := slices.Clone(texts)
	var more []string
	sections := make([]string, len(flagGroups))
	for i, g := range flagGroups {
		var names []string
		take := func(list []string, describe bool) {
			for _, name := range list {
				if at := slices.IndexFunc(own, func(t flagText) bool { return t.name == name }); at >= 0 {
					if describe || strings.Contains(cmd.Use, "--"+name+" ") {
						sections[i] += own[at].text
					} else {
						names = append(names, "--"+name)
					}
					own = slices.Delete(own, at, at+1)
				}
			}
		}
		take(g.main, true)
		take(g.more, all)
		if len(names) > 0 {
			more = append(more, fmt.Sprintf("  %-24s %s\n", g.title, strings.Join(names, " ")))
		}
	}
	var bench, verb string
	for _, t := range own {
		if t.bench {
			bench += t.text
		} else {
			verb += t.text
		}
	}
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", title, text)
		}
	}
	section("Options of the bench", bench)
	for i, g := range flagGroups {
		section(g.title, sections[i])
	}
	section("Flags of "+cmd.Name(), verb)
	section("More flags, described by "+cmd.CommandPath()+" --help-all", strings.Join(more, ""))
	_, err := io.WriteString(w, b.String())
	return err
}

// flagText is the description of a flag.
type flagText struct {
	name, text string
	bench      bool // an option of one bench
}

// flagTexts returns the descriptions of flags that are not hidden, in order, aligned with each
// other.
func flagTexts(f *pflag.FlagSet) []flagText {
	var out []flagText
	f.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			_, option := flag.Value.(*benchOption)
			out = append(out, flagText{name: flag.Name, bench: option})
		}
	})
	n := -1
	for line := range strings.Lines(f.FlagUsagesWrapped(helpWidth)) {
		mark := `[="` + aList + `"]`
		line = strings.Replace(line, mark, strings.Repeat(" ", len(mark)), 1)
		if n+1 < len(out) && strings.Contains(line, "--"+out[n+1].name) && strings.HasPrefix(strings.TrimSpace(line), "-") {
			n++
		}
		if n >= 0 {
			out[n].text += line
		}
	}
	return out
}
