package cli

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kernbench/fault"
	"kernbench/lab/run"
)

// examples has a value of each type of package fault, as the test below checks.
var examples = []error{
	&fault.BadAddress{}, &fault.Deadlock{}, &fault.Early{}, &fault.InvalidDirection{}, &fault.Mismatch{},
	&fault.Misuse{}, &fault.NoData{}, &fault.NotMember{}, &fault.OutOfBounds{}, &fault.Released{}, &fault.Unsupported{},
	&fault.Panic{}, &fault.Stalled{}, &fault.Limit{}, &fault.Exited{}, &fault.RingMemory{}, &fault.ScratchFull{},
	&fault.Unreceived{}, &fault.Unwritten{},
	&fault.UseAfterCredit{}, &fault.UseAfterFree{},
}

func TestExitStatus(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"wrong result", t.Context(), errWrong, ExitWrong},
		{"config", t.Context(), errors.New("topology.yaml:1:1: ..."), ExitUsage},
		{"missing file", t.Context(), os.ErrNotExist, ExitUsage},
		{"interrupted", stopped, fmt.Errorf("launch: %w", context.Canceled), ExitInterrupted},
		{"a panic of ours", t.Context(), fmt.Errorf("bench: %w", &run.InternalError{Value: "index out of range"}), ExitInternal},
		{"a panic of ours beside a fault", t.Context(), errors.Join(&fault.Deadlock{}, &run.InternalError{}), ExitInternal},
		{"a fault before the interrupt", stopped, &fault.Deadlock{}, ExitFault},
	} {
		if got := exitStatus(c.ctx, c.err); got != c.want {
			t.Errorf("%s: exit status %d, want %d", c.name, got, c.want)
		}
	}
	for _, e := range examples {
		if got := exitStatus(t.Context(), fmt.Errorf("launch: %w", e)); got != ExitFault {
			t.Errorf("%T: exit status %d, want %d", e, got, ExitFault)
		}
	}
}

// A new type of fault must be listed here. Otherwise its exit status would be that of a bad flag.
func TestEveryFaultIsKnown(t *testing.T) {
	known := map[string]bool{}
	for _, e := range examples {
		known[reflect.TypeOf(e).Elem().Name()] = true
	}
	files, err := filepath.Glob("../fault/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files of package fault:", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Error" {
				continue
			}
			star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
			if !ok {
				t.Fatalf("%s: the receiver of Error is no pointer", name)
			}
			if typ := star.X.(*ast.Ident).Name; !known[typ] {
				t.Errorf("fault.%s: unknown to exitStatus", typ)
			}
		}
	}
}
