//go:build linux && (amd64 || arm64)

package largepages

import "syscall"

const supported = true

// advise asks for large pages under b. It ignores errors: without large pages all works as well.
func advise(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
