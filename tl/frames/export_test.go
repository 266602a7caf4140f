package frames

// AtDepth returns the text of Caller from below some frames of this package.
//
//go:noinline
func AtDepth(n int) (text string) {
	if n > 0 {
		return AtDepth(n - 1)
	}
	return Caller().Text()
}

// LineAtDepth returns CallerLine from below some frames of this package.
//
//go:noinline
func LineAtDepth(n int) (line string) {
	if n > 0 {
		return LineAtDepth(n - 1)
	}
	return CallerLine()
}

// Inlined is small enough to be inlined into its caller.
func Inlined() string { return AtDepth(0) }
