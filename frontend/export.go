package frontend

import (
	"bytes"
	"fmt"

	"kernbench/frontend/chakra"
	"kernbench/frontend/plan"
	"kernbench/program/text"
)

// Exported is a recorded program in the format of another tool, and what reading it back says.
type Exported struct {
	Files   []plan.File
	Verdict *Verdict
}

// Format is a format that recorded programs can be exported to.
type Format struct {
	Name    string
	Summary string
	write   func(f *text.File, name string, about [][2]string) ([]plan.File, error)
}

var formats = []Format{
	{"chakra", "Chakra execution traces, a file NAME.RANK.et for each rank", chakraFiles},
}

// Formats lists the formats of Export.
func Formats() []Format { return formats }

// Export writes a recorded program in a format, with names of files that begin with name. about is
// kept in the files where the format has a place for it. The files are read back and judged.
func (to Format) Export(f *text.File, name string, about [][2]string) (*Exported, error) {
	files, err := to.write(f, name, about)
	if err != nil {
		return nil, fmt.Errorf("%s as %s: %w", f.Algorithm, to.Name, err)
	}
	x := &Exported{Files: files}
	source := Source{Name: name, Dialect: DialectOf(files[0].Data), Files: files}
	x.Verdict = Judge(&source, Options{})
	return x, nil
}

func chakraFiles(f *text.File, name string, about [][2]string) ([]plan.File, error) {
	var attrs []chakra.Attr
	for _, a := range about {
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
