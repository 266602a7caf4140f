package hccl

// Rule is a rule of the task API, by a short name that stays.
type Rule string

// The rules of setting up: tilings on the host, InitV2 and SetCcTilingV2 in kernels.
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

// The rules of preparing tasks.
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

// The rules of what follows: Commit, Wait, Query and Finalize.
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
	{BadSetting, "a setting of a tiling has one of its values and goes with its operation"},
	{BadGroupName, "a group name has 1 to 128 bytes"},
	{BadAlgorithm,
		"an algorithm string is Operation=level0:algorithm[;level1:algorithm], of what is known, and for the operation of its tiling"},
	{TilingOrder, "the init tiling comes first, and once"},
	{TooManyTilings, "a tiling has at most 8 cc tilings"},
	{NoContext, "InitV2 gets the context of a group that this device is a member of"},
	{InitTwice, "an object is initialised once, and a context initialises one object"},
	{NoInit, "InitV2 comes before every other call"},
	{BadTiling, "InitV2 gets the tiling of the launch, SetCcTilingV2 the offset of a cc tiling in it, for the group of the object"},
	{NoTiling, "SetCcTilingV2 for an operation comes before its first task"},
	{TooManyGroups, "a context is that of one of the 1 or 2 groups of the launch"},

	{WrongCore,
		"tasks come from one type of core, AIC or AIV; an object that names the core which posts names one that there is, the same on all cores"},
	{CoresDiffer, "cores of a device that prepare tasks prepare the same, and the one that posts among them"},
	{RepeatZero, "repeat is 1 to 255"},
	{TooManyPrepares, "a group has at most 63 tasks"},
	{NullBuffer, "buffers and lists are not null"},
	{OutsideBuffer, "what all turns read and write lies in the buffer in which it begins"},
	{Misaligned, "an address is a whole number of elements behind the start of its buffer, or of the part of a window"},
	{BadDataType, "a data type is one of the enumeration that elements here can have"},
	{NotReducible, "what is combined is fp32, fp16, bfp16, int8, int16 or int32"},
	{TypesDiffer,
		"a task has the element type of its buffers, or for copies a type of the same size; what is sent and what is received have one type"},
	{BadCount, "a count is positive, but for AlltoAllV, and a list has one for each rank"},
	{BadOp, "contributions are combined by sum, max or min, and as the tiling says where it does"},
	{StrideTooShort, "the blocks of two ranks, a stride apart, do not overlap: a stride is 0 or at least the count times repeat"},
	{StrideLooksLikeRepeat, "the argument before repeat is the stride: a small stride with repeat 1 was probably meant as repeat"},
	{OverlappingDestinations,
		"turns write nothing twice: with repeat over 1 a stride, or rdispls, leaves room for all turns between the blocks of ranks"},
	{OverlappingSources, "what one turn sends to two ranks is twice in memory: otherwise its result is not judged"},
	{BadItems, "a list of writes has 1 to 2047 items"},
	{Mismatch,
		"all ranks of a group prepare the same tasks in the same order, but for BatchWrite and InterHcclGroupSync; what one sends the other receives"},

	{BadHandle, "a handle comes from a task that was prepared"},
	{BadRank, "a rank is 0 to the size of the group less 1"},
	{BadGroup, "InterHcclGroupSync names the other group of the launch, which this device is a member of"},
	{CommitTooOften, "each turn is committed once"},
	{WaitBeforeCommit, "a turn is committed before it is waited for"},
	{WaitTooOften, "each turn is waited for at most once"},
	{WaitOrder, "tasks are waited for in the order in which they were prepared"},
	{BadIterate, "Iterate is for AlltoAllV in steps: step size over 0 and level1:pairwise"},
	{FinalizeUncommitted, "all turns are committed before Finalize"},
	{FinalizeBeforeWait, "all cores have done their waits before one does Finalize: SyncAll lies between"},
	{AfterFinalize, "nothing comes after Finalize"},
	{NoFinalize, "an object that was initialised is finalised"},
}

// Rules lists all rules: those of setting up, of preparing, of what follows.
func Rules() []Rule {
	var all []Rule
	for _, r := range rules {
		all = append(all, r.rule)
	}
	return all
}

// Meaning is the rule in a sentence, "" for none of Rules.
func (r Rule) Meaning() string {
	for _, known := range rules {
		if known.rule == r {
			return known.meaning
		}
	}
	return ""
}
