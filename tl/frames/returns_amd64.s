#include "textflag.h"

// func returns(stack *[12]uintptr)
//
// returns stores the return addresses of up to 12 frames in stack, innermost first, and 0 after
// the last if there are fewer. The frame pointer BP points to the frame pointer of the caller. The
// return address is 8 bytes above it. The chain of a goroutine or coroutine ends with 0.
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
