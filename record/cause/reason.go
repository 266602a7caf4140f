package cause

// Reason is the activity that took a span of simulated time.
type Reason uint8

// The reasons.
const (
	Unknown       Reason = iota // a defect: the executor gave no reason for the time
	Launch                      // software of the host, before kernels start
	Issue                       // a CPU, an IPCQ or a DMA engine starts something
	Serialisation               // bytes enter a link
	Latency                     // the head of a message is on the wires of a link
	Router                      // the head of a message passes a router or a port
	Queueing                    // a message waits for a resource that another one holds
	Credit                      // a slot's credit is in flight to the sender
	Memory                      // a memory or its port is accessed
	Arithmetic                  // an engine computes
	Protocol                    // software of the protocol, acknowledgements
	Wake                        // a kernel polls or is woken
	Delay                       // of a random schedule
	Imbalance                   // a rank has ended, and waits for the last one
	reasons
)

var reasonNames = [...]string{
	"unknown", "launch", "issue", "serialisation", "link latency", "router", "queueing", "credit stall", "memory port",
	"arithmetic", "protocol", "poll or wake-up", "random delay", "imbalance",
}

func (r Reason) String() string { return reasonNames[r] }

// Reasons lists all reasons.
func Reasons() []Reason {
	all := make([]Reason, reasons)
	for i := range all {
		all[i] = Reason(i)
	}
	return all
}

// Kind is the type of a Resource.
type Kind uint8

// The kinds of resources.
const (
	None   Kind = iota // no resource
	Link               // Number is that of a link of the machine; a memory's port is one of them
	Ring               // Number is that of Log.AddRing
	CPU                // of PE Number
	IPCQ               // of PE Number
	DMA                // of PE Number
	Math               // of PE Number
	GEMM               // of PE Number
	TCM                // of PE Number
	Word               // control words of PE Number
	Engine             // communication engine of PE Number
	Peer               // memory of PE Number, over the network
	Buffer             // at the end of link Number
	Path               // several links, one after the other: see Log.Links
	Event              // an event of streams, the end of another program
)

// Resource is a link, port, engine or other place where time is spent.
type Resource uint32

const kindShift = 28

// At returns a resource.
func At(k Kind, number int) Resource { return Resource(k)<<kindShift | Resource(number) }

// Kind returns the type of the resource.
func (r Resource) Kind() Kind { return Kind(r >> kindShift) }

// Number returns the number of the resource among those of its Kind.
func (r Resource) Number() int { return int(r & (1<<kindShift - 1)) }
