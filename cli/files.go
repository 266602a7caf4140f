package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kernbench/internal/outfile"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags that name files, of all verbs.
var (
	writtenFlags = []string{"trace", "table", "output", "output_file", "save", "plot", "timeline", "heat-map",
		"report", "cpuprofile", "memprofile"}
	readFlags = []string{"db", "topology", "ccl", "tuning", "compare", "input", "program"}
)

// distinctFiles refuses a command that would overwrite its input or its database, or write one file
// twice.
func distinctFiles(cmd *cobra.Command, args []string) error {
	type file struct{ what, name string }
	var read, written []file
	for _, arg := range args {
		read = append(read, file{"its argument", arg})
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		what, name := "--"+f.Name, f.Value.String()
		switch {
		case name == "":
		case slices.Contains(writtenFlags, f.Name):
			written = append(written, file{what, name})
		case f.Name == "db":
			for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
				read = append(read, file{what, name + suffix})
			}
		case slices.Contains(readFlags, f.Name):
			for part := range strings.SplitSeq(name, ",") {
				read = append(read, file{what, part})
			}
		}
	})
	for i, w := range written {
		for _, r := range slices.Concat(read, written[:i]) {
			if outfile.Same(w.name, r.name) {
				return fmt.Errorf("%s %s: that is %s too: name another file to write to", w.what, w.name, r.what)
			}
		}
	}
	return nil
}

// destination is the file that a flag names, or nil.
type destination struct{ file *outfile.File }

// output begins the file that a flag names, so that a command learns before its work whether it can
// be written.
func output(flag, name string) (*destination, error) {
	if name == "" {
		return nil, nil
	}
	f, err := outfile.Create(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return &destination{f}, nil
}

// write completes the file.
func (d *destination) write(text func(io.Writer) error) error {
	if d == nil {
		return nil
	}
	if err := text(d.file); err != nil {
		d.discard()
		return err
	}
	return d.file.Commit()
}

// discard keeps the former file, unless write has completed the new one.
func (d *destination) discard() {
	if d != nil {
		d.file.Discard()
	}
}
