package frontend

import (
	"fmt"
	"strings"

	"kernbench/frontend/chakra"
	"kernbench/frontend/msccl"
	"kernbench/frontend/mscclpp"
	"kernbench/frontend/plan"
)

// Dialect is a format of programs.
type Dialect struct {
	Name    string
	Summary string

	// Is reports whether a file is of this format, by its content.
	Is func(data []byte) bool
	// Runtimes choose among programs of this format for a call. Each takes the first that fits.
	Runtimes []string
	// Files returns the number of files that a runtime loads: the first ones that it can load. 0,
	// or a nil Files: all.
	Files func(runtime string) int
	// Group is the name of the program that a file is a part of, for formats with a file for each
	// rank. Nil: a file is a program.
	Group func(name string) string
	// Read reads the files of one program. If it returns no program, the findings have the reason.
	Read func(files []plan.File) (*plan.Program, []plan.Finding)
}

var dialects = []Dialect{
	{
		Name: msccl.Name, Summary: "MSCCL XML, for microsoft/msccl, Azure/msccl-executor-nccl, ROCm/rccl",
		Is: msccl.Is, Runtimes: msccl.Runtimes(), Files: msccl.Files,
		Read: func(files []plan.File) (*plan.Program, []plan.Finding) { return msccl.Read(files[0]) },
	},
	{
		Name: mscclpp.Name, Summary: "MSCCL++ execution plan in JSON, schema of v0.8 and later",
		Is: mscclpp.Is, Runtimes: mscclpp.Runtimes(),
		Read: func(files []plan.File) (*plan.Program, []plan.Finding) { return mscclpp.Program(files[0]) },
	},
	{
		Name: chakra.Name, Summary: "Chakra execution traces, a file NAME.RANK.et for each rank",
		Is: chakra.Is, Group: chakra.Group,
		Read: func(files []plan.File) (*plan.Program, []plan.Finding) { return chakra.Program(files, dataOf) },
	},
}

// Dialects lists the formats.
func Dialects() []Dialect { return dialects }

// DialectOf returns the format of a file by its content, or nil.
func DialectOf(data []byte) *Dialect {
	for i := range dialects {
		if dialects[i].Is(data) {
			return &dialects[i]
		}
	}
	return nil
}

// known lists the formats for an error.
func known() string {
	var names []string
	for i, d := range dialects {
		names = append(names, fmt.Sprintf("(%d) %s", i+1, d.Summary))
	}
	return strings.Join(names, "; ")
}
