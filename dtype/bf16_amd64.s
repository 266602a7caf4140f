#include "textflag.h"
#include "simd_amd64.h"

// func bf16Add(dst, a, b *byte, n int)
TEXT ·bf16Add(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_BF16

loop:
	LOAD_BF16
	ADD
	STORE_BF16
	NEXT(16)
	JNZ loop
	END

// func bf16Sub(dst, a, b *byte, n int)
TEXT ·bf16Sub(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_BF16

loop:
	LOAD_BF16
	SUB
	STORE_BF16
	NEXT(16)
	JNZ loop
	END

// func bf16Max(dst, a, b *byte, n int)
TEXT ·bf16Max(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_BF16

loop:
	LOAD_BF16
	MAX
	STORE_BF16
	NEXT(16)
	JNZ loop
	END

// func bf16Min(dst, a, b *byte, n int)
TEXT ·bf16Min(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_BF16

loop:
	LOAD_BF16
	MIN
	STORE_BF16
	NEXT(16)
	JNZ loop
	END

// The product of two bf16 is exact in float32 unless it is below the normal range (least bits 0x00800000), where float32
// would round it a first time. The loop stops before such a group and says how many elements it has done.

// func bf16Mul(dst, a, b *byte, n int) int
TEXT ·bf16Mul(SB), NOSPLIT, $0-40
	BEGIN
	CONSTANTS_BF16
	CONSTANT(0x7fffffff, X12, Y12)
	CONSTANT(0x00800000, X11, Y11)
	VPXOR Y10, Y10, Y10

loop:
	LOAD_BF16
	MUL
	VPAND     Y12, Y0, Y2
	VPCMPGTD  Y10, Y2, Y3
	VPCMPGTD  Y2, Y11, Y2
	VPTEST    Y3, Y2
	JNZ       done
	STORE_BF16
	NEXT(16)
	JNZ loop

done:
	MOVQ n+24(FP), AX
	SHLQ $3, CX
	SUBQ CX, AX
	MOVQ AX, ret+32(FP)
	END
