#include "textflag.h"
#include "simd_amd64.h"

// func f16Add(dst, a, b *byte, n int)
TEXT ·f16Add(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_F16
	ADD
	STORE_F16
	NEXT(16)
	JNZ loop
	END

// func f16Sub(dst, a, b *byte, n int)
TEXT ·f16Sub(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_F16
	SUB
	STORE_F16
	NEXT(16)
	JNZ loop
	END

// func f16Mul(dst, a, b *byte, n int)
TEXT ·f16Mul(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_F16
	MUL
	STORE_F16
	NEXT(16)
	JNZ loop
	END

// func f16Max(dst, a, b *byte, n int)
TEXT ·f16Max(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_F16
	MAX
	STORE_F16
	NEXT(16)
	JNZ loop
	END

// func f16Min(dst, a, b *byte, n int)
TEXT ·f16Min(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_F16
	MIN
	STORE_F16
	NEXT(16)
	JNZ loop
	END
