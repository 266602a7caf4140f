package collective

// SendRecv is the test of that name in nccl-tests: every rank sends its vector to the next rank and
// receives that of the previous one. It is Shift under the name that users know.
var SendRecv = register(Collective{
	Name:      "sendrecv",
	Summary:   "every rank sends its vector to the next rank and ends with that of the one before, as in nccl-tests",
	In:        Shift.In,
	Out:       Shift.Out,
	Parts:     Shift.Parts,
	Demand:    Shift.Demand,
	BusFactor: Shift.BusFactor,
})
