#include "textflag.h"
#include "simd_amd64.h"

// func f32Add(dst, a, b *byte, n int)
TEXT ·f32Add(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_32
	ADD
	STORE_32
	NEXT(32)
	JNZ loop
	END

// func f32Sub(dst, a, b *byte, n int)
TEXT ·f32Sub(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_32
	SUB
	STORE_32
	NEXT(32)
	JNZ loop
	END

// func f32Mul(dst, a, b *byte, n int)
TEXT ·f32Mul(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_32
	MUL
	STORE_32
	NEXT(32)
	JNZ loop
	END

// func f32Max(dst, a, b *byte, n int)
TEXT ·f32Max(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_32
	MAX
	STORE_32
	NEXT(32)
	JNZ loop
	END

// func f32Min(dst, a, b *byte, n int)
TEXT ·f32Min(SB), NOSPLIT, $0-32
	BEGIN
	CONSTANTS_F

loop:
	LOAD_32
	MIN
	STORE_32
	NEXT(32)
	JNZ loop
	END

// func i32Add(dst, a, b *byte, n int)
TEXT ·i32Add(SB), NOSPLIT, $0-32
	BEGIN

loop:
	LOAD_32
	VPADDD Y1, Y0, Y0
	STORE_32
	NEXT(32)
	JNZ loop
	END
