package machine

import "kernbench/conf"

func checkRouting(t *conf.Topology) error { return nil }
