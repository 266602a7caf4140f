package collective

// SendRecv is what nccl-tests calls so: every rank sends its vector to the next one and
// receives that of the one before. It means what Shift does, by the name that users know.
var SendRecv = register(Collective{
	Name:      "sendrecv",
	Summary:   "every rank sends its vector to the next rank and ends with that of the one before, as in nccl-tests",
	In:        Shift.In,
	Out:       Shift.Out,
	Parts:     Shift.Parts,
	Demand:    Shift.Demand,
	BusFactor: Shift.BusFactor,
})
