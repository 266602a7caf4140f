package sim

import "kernbench/tl"

func (r *rank) accountPut(*tl.Instr) uint64 { return 0 }
func (r *rank) accountGet(*tl.Instr) uint64 { return 0 }
func (r *rank) accountSource(uint64)        {}
func (r *rank) accountWhole(uint64)         {}
func (r *rank) accountNotify(*tl.OneSided)  {}
func (r *rank) accountWait(*tl.OneSided)    {}
func (r *rank) accountPoll(*tl.Instr)       {}
func (r *rank) accountAtomic(*tl.Instr)     {}
