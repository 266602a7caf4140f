package frontend

import (
	"bytes"
	"errors"
	"fmt"

	"kernbench/collective"
	"kernbench/frontend/chakra"
	"kernbench/frontend/export"
	"kernbench/frontend/msccl"
	"kernbench/frontend/plan"
	"kernbench/program/text"
)

// Exported is a recorded program in the format of another tool, and the judgement after reading it
// back.
type Exported struct {
	Files   []plan.File
	Verdict *Verdict
}

// Format is a format that recorded programs can be exported to.
type Format struct {
	Name    string
	Summary string
	write   func(f *text.File, name string, o ExportOptions) ([]plan.File, error)
	// attempts returns the options to try, one after the other, until the files are right; nil: the
	// given options only.
	attempts func(o ExportOptions) []ExportOptions
	// limit adds to options the size above which the exported program hangs.
	limit func(o ExportOptions, ends int64) ExportOptions
}

// ExportOptions are the options of a format.
type ExportOptions struct {
	About    [][2]string   // kept in the files where the format has a place for it
	Channels int           // copies of the program, each with a part of every chunk; 0: one
	Protocol plan.Protocol // of messages

	msccl export.Options // how thread blocks are made
}

// MostChannels is the largest number of channels of a file of MSCCL.
const MostChannels = export.MostChannels

var formats = []Format{
	{Name: "chakra", Summary: "Chakra execution traces, a file NAME.RANK.et for each rank", write: chakraFiles},
	{Name: msccl.Name, Summary: "MSCCL XML, a file NAME.xml", write: mscclFiles, attempts: mscclAttempts, limit: mscclLimit},
}

// Formats lists the formats of Export.
func Formats() []Format { return formats }

// Export writes a recorded program in a format, with names of files that begin with name. The files
// are read back and judged.
func (to Format) Export(f *text.File, name string, o ExportOptions) (*Exported, error) {
	attempts := []ExportOptions{o}
	if to.attempts != nil {
		attempts = to.attempts(o)
	}
	var x *Exported
	for i := 0; i < len(attempts); i++ {
		files, err := to.write(f, name, attempts[i])
		if at, is := errors.AsType[*text.Error](err); is {
			return nil, &text.Error{File: at.File, Line: at.Line, Msg: "as " + to.Name + ": " + at.Msg}
		}
		if err != nil {
			return nil, fmt.Errorf("%s as %s: %w", f.Name, to.Name, err)
		}
		x = &Exported{Files: files}
		source := Source{Name: files[0].Name, Dialect: DialectOf(files[0].Data), Files: files}
		if len(files) > 1 {
			source.Name = name
		}
		judging := Options{}
		if co, err := collective.Lookup(f.Collective); err == nil && co.Rooted {
			judging.Root = 1 + f.Root
		}
		if x.Verdict = Judge(&source, judging); x.Verdict.OK() {
			return x, nil
		}
		if h := x.Verdict.Hang; i == len(attempts)-1 && to.limit != nil && h != nil && h.Ends > 0 && h.InRange {
			attempts = append(attempts, to.limit(attempts[i], h.Ends))
		}
	}
	return x, nil
}

func chakraFiles(f *text.File, name string, o ExportOptions) ([]plan.File, error) {
	var attrs []chakra.Attr
	for _, a := range o.About {
		attrs = append(attrs, chakra.Attr{Name: a[0], Value: chakra.NewText(a[1])})
	}
	traces, err := chakra.Export(f, attrs...)
	if err != nil {
		return nil, err
	}
	var files []plan.File
	for rank, t := range traces {
		var b bytes.Buffer
		if err := chakra.Write(&b, t); err != nil {
			return nil, err
		}
		files = append(files, plan.File{Name: fmt.Sprintf("%s.%d.et", name, rank), Data: b.Bytes()})
	}
	return files, nil
}

// mscclAttempts returns options for thread blocks, fewest blocks first. One block for both
// directions of a peer needs the fewest. It can hang where separate blocks do not, and so can steps
// that forward.
func mscclAttempts(o ExportOptions) []ExportOptions {
	var attempts []ExportOptions
	for _, w := range []export.Options{{}, {Apart: true}, {Apart: true, Plain: true}} {
		o.msccl = w
		attempts = append(attempts, o)
	}
	return attempts
}

// mscclLimit sets the largest call that the file allows.
func mscclLimit(o ExportOptions, ends int64) ExportOptions {
	o.msccl.MaxBytes = ends
	return o
}

func mscclFiles(f *text.File, name string, o ExportOptions) ([]plan.File, error) {
	how := o.msccl
	how.Channels, how.Protocol = o.Channels, o.Protocol
	a, err := export.MSCCL(f, how)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := msccl.Write(&b, a); err != nil {
		return nil, err
	}
	return []plan.File{{Name: name + ".xml", Data: b.Bytes()}}, nil
}

// dataOf returns the plan of a recorded program with its data: its form as MSCCL XML. Channels hold
// any number of messages and each direction has a block, so that only the program itself can hang.
func dataOf(f *text.File) (*plan.Plan, error) {
	if f.Idempotent {
		return nil, errors.New("contributions may count more than once in it, and the judge counts them")
	}
	a, err := export.MSCCL(f, export.Options{Apart: true, Plain: true})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := msccl.Write(&b, a); err != nil {
		return nil, err
	}
	p, findings := msccl.Read(plan.File{Name: f.Name, Data: b.Bytes()})
	if p == nil {
		return nil, errors.New(findings[0].String())
	}
	call := plan.Call{InPlace: p.Modes[0]}
	if co, err := collective.Lookup(f.Collective); err == nil && co.Rooted {
		call.Root = 1 + f.Root
	}
	pl, findings := p.Plan(call)
	if pl == nil {
		return nil, errors.New(findings[0].String())
	}
	return pl.WithDepth(0), nil
}
