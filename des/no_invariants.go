//go:build !invariants

package des

// audit and check do nothing: see invariants.go.
type audit struct{}

func (q *Queue) check(*Event) { _ = q.audit }
