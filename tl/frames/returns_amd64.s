#include "textflag.h"

// func returns(stack *[12]uintptr)
//
// Frame pointers chain the frames: at each is the one before, and above it the return
// address. The chain of a goroutine or coroutine ends in 0.
TEXT ·returns(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ stack+0(FP), DI
	MOVQ BP, AX
	MOVQ $12, CX

frame:
	TESTQ AX, AX
	JZ    rest
	MOVQ  8(AX), DX
	MOVQ  DX, (DI)
	ADDQ  $8, DI
	MOVQ  (AX), AX
	DECQ  CX
	JNZ   frame
	RET

rest:
	MOVQ $0, (DI)
	RET
