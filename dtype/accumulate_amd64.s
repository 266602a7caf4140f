#include "textflag.h"
#include "simd_amd64.h"

// The loops below have the signature func(sum, size *float64, src *byte, n int). n is a positive
// multiple of 8. DI points into sum, R8 into size, and SI into src. CX counts the iterations of 8
// elements that are left. Y0 holds the operands. Y15 holds the mask that clears the sign bit of a
// float64, in every lane.

#define BEGIN_SUM \
	MOVQ sum+0(FP), DI; \
	MOVQ size+8(FP), R8; \
	MOVQ src+16(FP), SI; \
	MOVQ n+24(FP), CX; \
	SHRQ $3, CX; \
	VPCMPEQD Y15, Y15, Y15; \
	VPSRLQ $1, Y15, Y15

// ADD_UP converts both halves of Y0 to float64. It adds the values to sum and their absolute values
// to size.
#define ADD_UP \
	VCVTPS2PD X0, Y1; \
	VEXTRACTF128 $1, Y0, X2; \
	VCVTPS2PD X2, Y2; \
	VADDPD (DI), Y1, Y3; \
	VADDPD 32(DI), Y2, Y4; \
	VANDPD Y15, Y1, Y1; \
	VANDPD Y15, Y2, Y2; \
	VMOVUPD Y3, (DI); \
	VMOVUPD Y4, 32(DI); \
	VADDPD (R8), Y1, Y1; \
	VADDPD 32(R8), Y2, Y2; \
	VMOVUPD Y1, (R8); \
	VMOVUPD Y2, 32(R8)

#define NEXT_SUM(bytes) \
	ADDQ $bytes, SI; \
	ADDQ $64, DI; \
	ADDQ $64, R8; \
	DECQ CX

// func f16Accumulate(sum, size *float64, src *byte, n int)
TEXT ·f16Accumulate(SB), NOSPLIT, $0-32
	BEGIN_SUM

loop:
	VCVTPH2PS (SI), Y0
	ADD_UP
	NEXT_SUM(16)
	JNZ loop
	END

// func bf16Accumulate(sum, size *float64, src *byte, n int)
TEXT ·bf16Accumulate(SB), NOSPLIT, $0-32
	BEGIN_SUM

loop:
	VPMOVZXWD (SI), Y0
	VPSLLD $16, Y0, Y0
	ADD_UP
	NEXT_SUM(16)
	JNZ loop
	END

// func f32Accumulate(sum, size *float64, src *byte, n int)
TEXT ·f32Accumulate(SB), NOSPLIT, $0-32
	BEGIN_SUM

loop:
	VMOVUPS (SI), Y0
	ADD_UP
	NEXT_SUM(32)
	JNZ loop
	END
