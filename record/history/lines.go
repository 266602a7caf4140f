package history

// OmitLines reports whether an executor may leave out the lines of operations that are no choices:
// see tl.Setup. A judge that needs them asks for another run. Of a nil Log it returns false.
func (l *Log) OmitLines() bool {
	if l == nil || !l.Terse {
		return false
	}
	l.withoutLines = true
	return true
}

// WithoutLines reports whether lines were left out.
func (l *Log) WithoutLines() bool { return l.withoutLines }
