package mem_test

import (
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
)

func TestStagingPartsHoldData(t *testing.T) {
	words := mem.SignalPart("", mem.Int32, 4)
	words.Staging = true
	if _, err := mem.NewLayout(0, []mem.Buffer{{Name: "in", Parts: []mem.Part{words}}}); err == nil ||
		!strings.Contains(err.Error(), "control words are zero") {
		t.Errorf("staging memory of control words: %v", err)
	}
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "in", Parts: []mem.Part{mem.StagingPart("", dtype.F16, 5)}}})
	if err != nil || l.Bytes != 16 || !l.Parts[0].Staging {
		t.Errorf("%+v: %v", l, err)
	}
}
