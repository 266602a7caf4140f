package oplog

import (
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
)

// Forget marks n elements at a as unwritten, so that their old contents do not count as new
// results.
func (l *Log) Forget(a mem.Addr, t dtype.Type, n int) error {
	l.settle()
	s, off, err := l.rep.memory.find(a, t, n)
	if err != nil {
		return hostAccess(a, t, n, err)
	}
	s.prov = collective.Overwrite(s.prov, off, collective.MakeUnwritten(nil, n))
	return nil
}
