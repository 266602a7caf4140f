package tl

import "fmt"

// EngineQueues is the number of queues of a communication engine.
const EngineQueues = 2

// Task is a program for the communication engine of a PE. Tasks of one queue run one after the
// other, in the order of their posts. Queues run in parallel and share the engine. The kernel's
// Context is on the PE that posted the task.
type Task struct {
	Name        string
	Queue       int // 0 to EngineQueues-1
	Kernel      Kernel
	Args        Args
	Rank, World int // what its Context answers
}

// Post hands a task to the communication engine of this PE and returns at once. The task comes
// after all earlier operations of this program. A launch ends when its programs and all tasks that
// they have posted have ended. Await of the handle orders the task before later operations; a task
// need not be awaited.
func (c *Context) Post(t *Task) Handle {
	switch {
	case t == nil || t.Kernel == nil:
		c.misuse("post", "no program")
	case t.Queue < 0 || t.Queue >= EngineQueues:
		c.misuse("post", fmt.Sprintf("queue %d: a communication engine has queues 0 to %d", t.Queue, EngineQueues-1))
	case t.World < 1 || t.Rank < 0 || t.Rank >= t.World:
		c.misuse("post", fmt.Sprintf("rank %d of %d", t.Rank, t.World))
	case !c.engine:
		c.misuse("post",
			"there is no communication engine: a launch on a stream has one when its Grid asks for it, and tasks post no others")
	}
	i := c.newCell(cellHandle)
	h := Handle{i, c.cells[i].gen, true}
	c.emit(&Instr{Op: OpTask, Dst: i, A: None, B: None, C: None, Task: t})
	return h
}

// TaskName returns how reports call a task with a number among those of its queue.
func TaskName(t *Task, number int) string {
	if t.Name == "" {
		return fmt.Sprintf("task %d of queue %d of the communication engine", number, t.Queue)
	}
	return fmt.Sprintf("task %d (%s) of queue %d of the communication engine", number, t.Name, t.Queue)
}

// CoreType is the set of units of a core, apart from its CPU and DMA.
type CoreType uint8

// The types of cores.
const (
	CoreAny    CoreType = iota // matrix and vector units
	CoreCube                   // a matrix unit: no arithmetic on tensors but Dot and pipelines
	CoreVector                 // a vector unit: no matrix products
)

var coreTypeNames = [...]string{"any", "cube", "vector"}

func (t CoreType) String() string {
	if int(t) < len(coreTypeNames) {
		return coreTypeNames[t]
	}
	return fmt.Sprintf("CoreType(%d)", uint8(t))
}

// CoreType returns the type of the core that runs this kernel.
func (c *Context) CoreType() CoreType { return c.coreType }

// checkCore refuses instructions that the core has no unit for.
func (c *Context) checkCore() {
	switch op := c.in.Op; {
	case c.coreType == CoreCube && op == OpMath:
		c.misuse("math", "a cube core has no vector unit: arithmetic on tensors is for vector cores")
	case c.coreType == CoreVector && (op == OpGemm || op == OpComposite && c.in.Pipe.Gemm):
		c.misuse("dot", "a vector core has no matrix unit: products are for cube cores")
	}
}
