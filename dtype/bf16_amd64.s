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

// func bf16Mul(dst, a, b *byte, n int)
TEXT ·bf16Mul(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_BF16

loop:
	LOAD_BF16
	MUL
	STORE_BF16
	NEXT(16)
	JNZ loop
	END
