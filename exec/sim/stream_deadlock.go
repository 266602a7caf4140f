package sim

func (x *run) stalled() error { return x.deadlock() }
