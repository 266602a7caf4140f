package hccl

// Rule is the name of a rule of the task API. Names do not change between versions.
type Rule string

// The rules of setup: tilings on the host, InitV2 and SetCcTilingV2 in kernels.
const (
	BadSetting     Rule = "bad-setting"
	BadGroupName   Rule = "bad-group-name"
	BadAlgorithm   Rule = "bad-algorithm"
	TilingOrder    Rule = "tiling-order"
	TooManyTilings Rule = "too-many-tilings"
	NoContext      Rule = "no-context"
	InitTwice      Rule = "init-twice"
	NoInit         Rule = "no-init"
	BadTiling      Rule = "bad-tiling"
	NoTiling       Rule = "no-tiling"
	TooManyGroups  Rule = "too-many-groups"
)

// The rules of Prepare calls.
const (
	WrongCore               Rule = "wrong-core"
	CoresDiffer             Rule = "cores-differ"
	RepeatZero              Rule = "repeat-zero"
	TooManyPrepares         Rule = "too-many-prepares"
	NullBuffer              Rule = "null-buffer"
	OutsideBuffer           Rule = "outside-buffer"
	Misaligned              Rule = "misaligned"
	BadDataType             Rule = "bad-data-type"
	NotReducible            Rule = "not-reducible"
	TypesDiffer             Rule = "types-differ"
	BadCount                Rule = "bad-count"
	BadOp                   Rule = "bad-op"
	StrideTooShort          Rule = "stride-too-short"
	StrideLooksLikeRepeat   Rule = "stride-looks-like-repeat"
	OverlappingDestinations Rule = "overlapping-destinations"
	OverlappingSources      Rule = "overlapping-sources"
	BadItems                Rule = "bad-items"
	Mismatch                Rule = "mismatch"
)

// The rules of the later calls: Commit, Wait, Query and Finalize.
const (
	BadHandle           Rule = "bad-handle"
	BadRank             Rule = "bad-rank"
	BadGroup            Rule = "bad-group"
	CommitTooOften      Rule = "commit-too-often"
	WaitBeforeCommit    Rule = "wait-before-commit"
	WaitTooOften        Rule = "wait-too-often"
	WaitOrder           Rule = "wait-order"
	BadIterate          Rule = "bad-iterate"
	FinalizeUncommitted Rule = "finalize-uncommitted"
	FinalizeBeforeWait  Rule = "finalize-before-wait"
	AfterFinalize       Rule = "after-finalize"
	NoFinalize          Rule = "no-finalize"
)

var rules = []struct {
	rule    Rule
	meaning string
}{
	{BadSetting, "a setting of a tiling has a valid value and applies to its operation"},
	{BadGroupName, "a group name has 1 to 128 bytes"},
	{BadAlgorithm,
		"an algorithm string is Operation=level0:algorithm[;level1:algorithm]; its words are known, and its operation is that of its tiling"},
	{TilingOrder, "the init tiling is the first one, and there is only one"},
	{TooManyTilings, "a tiling has at most 8 cc tilings"},
	{NoContext, "InitV2 takes the context of a group that has this device as a member"},
	{InitTwice, "an object is initialised once, and a context initialises one object"},
	{NoInit, "InitV2 comes before every other call"},
	{BadTiling, "InitV2 takes the tiling of the launch; SetCcTilingV2 takes the offset of a cc tiling in it, for the object's group"},
	{NoTiling, "SetCcTilingV2 for an operation comes before the first task of the operation"},
	{TooManyGroups, "a launch has 1 or 2 groups, and each context belongs to one of them"},

	{WrongCore,
		"tasks come from one type of core, AIC or AIV; the posting core that an object names exists and is the same on all cores"},
	{CoresDiffer, "all cores of a device that prepare tasks prepare the same tasks, and the posting core is one of them"},
	{RepeatZero, "repeat is 1 to 255"},
	{TooManyPrepares, "a group has at most 63 tasks"},
	{NullBuffer, "buffers and lists are not null"},
	{OutsideBuffer, "all turns read and write within the buffer in which the range begins"},
	{Misaligned, "an address is a whole number of elements after the start of its buffer, or of its part of a window"},
	{BadDataType, "a data type is in the enumeration, and kernbench has an element type of its size"},
	{NotReducible, "reductions take fp32, fp16, bfp16, int8, int16 or int32"},
	{TypesDiffer,
		"a task has the element type of its buffers, or for copies a type of the same size; sender and receiver have the same type"},
	{BadCount, "a count is positive, except for AlltoAllV, and a list has one count for each rank"},
	{BadOp, "a reduction is sum, max or min, and the same as the tiling's if the tiling has one"},
	{StrideTooShort, "the blocks of two ranks do not overlap: a stride is 0 or at least the count times repeat"},
	{StrideLooksLikeRepeat, "the argument before repeat is the stride: a small stride with repeat 1 was probably meant as repeat"},
	{OverlappingDestinations,
		"turns write different elements: with repeat above 1 the stride or rdispls leaves space for all turns between the blocks of ranks"},
	{OverlappingSources, "one turn does not send an element to two ranks: store it twice, otherwise the result of the turn is not checked"},
	{BadItems, "a list of writes has 1 to 2047 items"},
	{Mismatch,
		"all ranks of a group prepare the same tasks in the same order, except BatchWrite and InterHcclGroupSync; the counts of sender and receiver agree"},

	{BadHandle, "a handle belongs to a prepared task"},
	{BadRank, "a rank is at least 0 and less than the size of the group"},
	{BadGroup, "InterHcclGroupSync takes the other group of the launch, which has this device as a member"},
	{CommitTooOften, "each turn is committed once"},
	{WaitBeforeCommit, "a turn is committed before a Wait for it"},
	{WaitTooOften, "each turn has at most one Wait"},
	{WaitOrder, "Waits for tasks come in the order of their Prepare calls"},
	{BadIterate, "Iterate is for AlltoAllV in steps: a step size above 0 and level1:pairwise"},
	{FinalizeUncommitted, "all turns are committed before Finalize"},
	{FinalizeBeforeWait, "all cores have finished their Waits before one core calls Finalize: SyncAll comes between"},
	{AfterFinalize, "no call follows Finalize"},
	{NoFinalize, "an initialised object is finalised"},
}

// Rules lists all rules: of setup, of Prepare calls, and of the later calls.
func Rules() []Rule {
	var all []Rule
	for _, r := range rules {
		all = append(all, r.rule)
	}
	return all
}

// Meaning returns the rule as a sentence, or "" if r is not in Rules.
func (r Rule) Meaning() string {
	for _, known := range rules {
		if known.rule == r {
			return known.meaning
		}
	}
	return ""
}
