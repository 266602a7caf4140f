package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"kernbench/exec"
	"kernbench/internal/near"
	"kernbench/internal/outfile"
	"kernbench/lab/run"
	"kernbench/machine"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Main runs the command line with the process's own streams and returns the exit status,
// one of the constants in this package. args are without the program's name.
func Main(args []string) int {
	runtime.MemProfileRate = 0 // until --memprofile is given: it costs a hundredth of a run
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ended := make(chan struct{})
	defer close(ended)
	defer context.AfterFunc(ctx, func() {
		stop() // a second Ctrl-C kills the process
		select {
		case <-ended:
		case <-time.After(endsWithin):
			fmt.Fprintf(os.Stderr, "kernbench: interrupted: an operation did not stop within %v and was abandoned\n", endsWithin)
			outfile.DiscardAll()
			os.Exit(ExitInterrupted)
		}
	})()
	return (&app{args: args, out: os.Stdout, err: os.Stderr, ownProcess: true}).execute(ctx)
}

// endsWithin is the longest time that a command may take to end after the first interrupt.
const endsWithin = 1800 * time.Millisecond

// app holds the values that all verbs share.
type app struct {
	args       []string // without the program's name
	out, err   io.Writer
	ownProcess bool // no other command runs in the process, so this one may set how its heap grows
}

// execute runs the command and returns the exit status.
func (a *app) execute(ctx context.Context) int {
	root := a.root()
	root.SetArgs(a.args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := unknownVerb(root, a.args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return ExitOK
	}
	if !errors.Is(err, errWrong) && !is[reported](err) {
		text := fileErrorText(err)
		if e, ok := errors.AsType[*exec.Missing](err); ok && len(e.Instead) > 0 {
			text += ": use -p " + strings.Join(e.Instead, " or ")
		}
		if e, ok := errors.AsType[*machine.NoSwitch](err); ok && !e.Elsewhere {
			text += "; presets with such switches: " + strings.Join(machine.SwitchPresets(), ", ")
		}
		if !strings.HasPrefix(text, root.Name()+" ") { // an error of arguments begins with the command
			text = root.Name() + ": " + text
		}
		fmt.Fprintln(a.err, text)
	}
	return exitStatus(ctx, err)
}

const tryThese = `kernbench is a laboratory for collective communication. Three commands to try:

  kernbench run --bench ccl_allreduce --verify-data   one run on the default machine, checked
  kernbench test all --ranks 1,2,3,8                   every algorithm on the mock executor
  kernbench list algorithms                            the library

kernbench help shows all verbs.
`

const exitCodes = `
Exit status:
    0  success
    1  a result is wrong or depends on the schedule: a rank failed verification, a race or another
       hazard was found, or schedules gave different results
    2  the command line, a configuration or a file is invalid
    3  the kernel is invalid: deadlock, use after credit, ...
    4  internal error of kernbench: please report what it prints
  130  interrupted; the rows that were complete are printed
`

// command is a verb and what builds its command.
type command struct {
	verb      string
	build     func(*app) *cobra.Command
	simulates bool // so it fills memory
}

// commands are all verbs. A call of one of them builds no other: the flags of all take time.
var commands = []command{
	{verb: "run", build: (*app).runCommand, simulates: true},
	{verb: "explain", build: (*app).explainCommand, simulates: true},
	{verb: "test", build: (*app).testCommand, simulates: true},
	{verb: "compare", build: (*app).compareCommand, simulates: true},
	{verb: "perf", build: (*app).perfCommand, simulates: true},
	{verb: "bound", build: (*app).boundCommand, simulates: true},
	{verb: "topology", build: (*app).topologyCommand},
	{verb: "calibrate", build: (*app).calibrateCommand, simulates: true},
	{verb: "tune", build: (*app).tuneCommand, simulates: true},
	{verb: "results", build: (*app).resultsCommand},
	{verb: "probe", build: (*app).probeCommand, simulates: true},
	{verb: "program", build: (*app).programCommand, simulates: true},
	{verb: "import", build: (*app).importCommand, simulates: true},
	{verb: "select", build: (*app).selectCommand},
	{verb: "export", build: (*app).exportCommand, simulates: true},
	{verb: "selfbench", build: (*app).selfbenchCommand, simulates: true},
	{verb: "view", build: (*app).viewCommand, simulates: true},
	{verb: "bench", build: (*app).benchCommand},
	{verb: "list", build: (*app).listCommand},
	{verb: "schema", build: (*app).schemaCommand},
	{verb: "new", build: (*app).newCommand},
	{verb: "version", build: (*app).versionCommand},
}

// root returns the command line, with the verb that is called, or with all.
func (a *app) root() *cobra.Command {
	called := func(c command) bool { return len(a.args) > 0 && a.args[0] == c.verb }
	root := &cobra.Command{
		Use:     "kernbench",
		Version: run.Version(),
		Short:   "A laboratory for collective communication",
		Long:    "kernbench is a laboratory for collective communication: write an algorithm once as a kernel,\ncheck it, and time it on a simulated machine.\n" + exitCodes,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprint(a.out, tryThese)
				return err
			}
			return unknownWord("command", args[0], append(verbs(cmd), "help"))
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := noEmptyWords(cmd, args); err != nil {
				return err
			}
			if err := distinctFiles(cmd, args); err != nil {
				return err
			}
			if a.ownProcess {
				prepareHeap(slices.ContainsFunc(commands, func(c command) bool { return c.simulates && called(c) }))
			}
			return nil
		},
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetFlagErrorFunc(flagError)
	only := slices.ContainsFunc(commands, called)
	for _, c := range commands {
		if !only || called(c) {
			root.AddCommand(c.build(a))
		}
	}
	completeValues(root)
	groupFlags(root)
	return root
}

// noEmptyWords refuses empty arguments and empty values of flags. A script with an unset variable
// would otherwise get the default without notice.
func noEmptyWords(cmd *cobra.Command, args []string) (err error) {
	if strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) { // a word to complete may be empty
		return nil
	}
	for i, arg := range args {
		if strings.TrimSpace(arg) == "" {
			return fmt.Errorf("%s: argument %d is empty", verbOf(cmd), i+1)
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "" {
			err = errors.Join(err, fmt.Errorf("--%s is empty: give it a value, or leave it out for the default", f.Name))
		}
	})
	return err
}

// unknownVerb returns an error if help is asked for a verb that does not exist. Otherwise cobra
// would print the general help, with exit status 0.
func unknownVerb(root *cobra.Command, args []string) error {
	asked := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	if len(args) > 0 && args[0] == "help" {
		asked, args = true, args[1:]
	}
	if !asked || len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	for _, c := range root.Commands() {
		if c.Name() == args[0] || c.HasAlias(args[0]) {
			return nil
		}
	}
	return unknownWord("command", args[0], append(verbs(root), "help"))
}

func verbs(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// unknownWord is the error for a word that is none of those known.
func unknownWord(what, word string, known []string) error {
	return near.Unknown(what, word, known)
}

// flagError adds the name of a similar flag, and removes what is printed twice.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := e.GetSpecifiedName()
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if letters := e.GetSpecifiedShortnames(); letters != "" {
			known = slices.DeleteFunc(known, func(k string) bool { return !strings.HasPrefix(k, name) })
			if len(known) == 0 {
				return fmt.Errorf("unknown flag -%s (%s --help shows the flags)", name, cmd.CommandPath())
			}
			return fmt.Errorf("unknown flag -%s; did you mean --%s?", name, strings.Join(known, " or --"))
		}
		if guess := near.Name(name, known); guess != "" {
			return fmt.Errorf("unknown flag --%s; did you mean --%s?", name, guess)
		}
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if kind := map[string]string{"int": "a whole number", "bool": "true or false",
			"duration": "a time such as 30s"}[e.GetFlag().Value.Type()]; kind != "" {
			err = fmt.Errorf("--%s: found %q, want %s", e.GetFlag().Name, e.GetValue(), kind)
		}
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok { // pflag prints the value already
		again := fmt.Sprintf("flag: found %q, ", e.GetValue())
		err = errors.New(strings.Replace(err.Error(), again, "flag: ", 1))
	}
	return fmt.Errorf("%w (%s --help shows the flags)", err, cmd.CommandPath())
}

// choice accepts exactly one of some arguments. Its error lists them.
func choice(what string, known []string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s: found no argument, want one of %s", verbOf(cmd), strings.Join(known, ", "))
		case len(args) > 1:
			return fmt.Errorf("%s: found %d arguments, want one %s", verbOf(cmd), len(args), what)
		}
		for _, k := range known {
			if k == args[0] {
				return nil
			}
		}
		return unknownWord(what, args[0], known)
	}
}

// verbOf returns the path of a command without the program's name, which every error has in front.
func verbOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// nothing refuses arguments.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s: found argument %q, want none", verbOf(cmd), args[0])
	}
	return nil
}
