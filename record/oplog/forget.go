package oplog

import (
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
)

// Forget makes n elements at a as if nothing had written them: what they held before must not
// pass for what is written there next.
func (l *Log) Forget(a mem.Addr, t dtype.Type, n int) error {
	l.settle()
	s, off, err := l.rep.memory.find(a, t, n)
	if err != nil {
		return hostAccess(a, t, n, err)
	}
	s.prov = collective.Overwrite(s.prov, off, collective.MakeUnwritten(nil, n))
	return nil
}
