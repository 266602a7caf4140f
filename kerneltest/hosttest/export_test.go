package hosttest

import "kernbench/device"

// Judge judges a collective that was performed, with results that a test has changed.
func (r *Rig) Judge(t TB, c *device.Call) error { return r.judge(t, c) }
