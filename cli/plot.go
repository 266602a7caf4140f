package cli

import (
	"io"

	"kernbench/plot/scene"

	"github.com/spf13/pflag"
)

// plotFlag is a flag with the file of a figure. Its extension sets the format, and is checked at
// once.
type plotFlag struct {
	flag, name string
	format     scene.Format
	file       *destination
}

func (p *plotFlag) Type() string   { return "FILE" }
func (p *plotFlag) String() string { return p.name }

func (p *plotFlag) Set(name string) error {
	format, err := scene.FormatOf(name)
	p.name, p.format = name, format
	return err
}

// add adds the flag to a command.
func (p *plotFlag) add(f *pflag.FlagSet, flag, what string) {
	p.flag = flag
	f.Var(p, flag, what+" to a `FILE`: .svg, .png or .html")
}

// wanted reports whether a figure is requested.
func (p *plotFlag) wanted() bool { return p.name != "" }

// begin begins the file, so that a command learns before its work whether it can be written.
func (p *plotFlag) begin() (err error) {
	p.file, err = output("--"+p.flag, p.name)
	return err
}

// write completes the file, if one is requested.
func (p *plotFlag) write(picture func() *scene.Picture) error {
	if !p.wanted() {
		return nil
	}
	data, err := scene.Encode(picture(), p.format)
	if err != nil {
		p.file.discard()
		return err
	}
	return p.file.write(func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// discard keeps the former file, unless write has completed the new one.
func (p *plotFlag) discard() { p.file.discard() }
