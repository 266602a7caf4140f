package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func help(t *testing.T, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	if status := execute(t.Context(), args, &out, &err); status != ExitOK {
		t.Fatalf("%v: exit status %d\n%s", args, status, &err)
	}
	return out.String()
}

// described reports whether a help text has a line that describes a flag.
func described(text, flag string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "-") && slices.Contains(strings.Fields(line)[:min(2, len(strings.Fields(line)))], "--"+flag) {
			return true
		}
	}
	return false
}

// The help of a verb describes or names each flag, and --help-all describes all.
func TestHelpHasEachFlag(t *testing.T) {
	root := (&app{}).root()
	seen := 0
	var leaves []*cobra.Command
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() {
			leaves = append(leaves, cmd.Commands()...)
		} else if !cmd.Hidden && cmd.Name() != "help" {
			leaves = append(leaves, cmd)
		}
	}
	for _, cmd := range leaves {
		path := strings.Fields(cmd.CommandPath())[1:]
		text, all := help(t, append(path, "--help")...), ""
		if cmd.Flags().Lookup("help-all") != nil {
			all = help(t, append(path, "--help-all")...)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, option := f.Value.(*benchOption); option || f.Hidden {
				return
			}
			seen++
			switch named := strings.Contains(text, " --"+f.Name); {
			case !named:
				t.Errorf("%s --help does not name --%s", cmd.CommandPath(), f.Name)
			case all == "" && !described(text, f.Name):
				t.Errorf("%s --help does not describe --%s", cmd.CommandPath(), f.Name)
			case all != "" && !described(all, f.Name):
				t.Errorf("%s --help-all does not describe --%s", cmd.CommandPath(), f.Name)
			}
		})
	}
	if seen < 100 {
		t.Errorf("%d flags were looked for", seen)
	}
}

func TestRunShowsFewFlags(t *testing.T) {
	const most = 20
	n := 0
	text := help(t, "run", "--help")
	(&app{}).runCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if described(text, f.Name) {
			n++
		}
	})
	if n > most || n < most/2 {
		t.Errorf("run --help describes %d flags, at most %d are wanted", n, most)
	}
	if described(text, "trace-ranks") || !described(help(t, "run", "--help-all"), "trace-ranks") {
		t.Error("--trace-ranks is described by --help, or not by --help-all")
	}
}

// Each verb builds the command of its name. A call of one builds no other.
func TestCommands(t *testing.T) {
	for _, c := range commands {
		a := &app{args: []string{c.verb}}
		if all := a.root().Commands(); len(all) != 1 || all[0].Name() != c.verb {
			t.Errorf("%s builds %d commands, the first %q", c.verb, len(all), all[0].Name())
		}
	}
	if n := len((&app{args: []string{"help", "run"}}).root().Commands()); n != len(commands) {
		t.Errorf("%d commands, want %d", n, len(commands))
	}
}

// Each flag is in one group, and some verb has it.
func TestFlagGroups(t *testing.T) {
	var known []string
	for _, cmd := range (&app{}).root().Commands() {
		visit := func(c *cobra.Command) { c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) }) }
		visit(cmd)
	}
	var grouped []string
	for _, g := range flagGroups {
		for _, name := range slices.Concat(g.main, g.more) {
			if slices.Contains(grouped, name) {
				t.Errorf("--%s stands twice", name)
			}
			if !slices.Contains(known, name) {
				t.Errorf("no verb has --%s", name)
			}
			grouped = append(grouped, name)
		}
	}
}
