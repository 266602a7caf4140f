// Macros of the vector loops. Each loop takes func(dst, a, b *byte, n int) with n a positive multiple of 8, and does 8
// elements per iteration: DI, SI, R8 point into dst, a, b; CX counts iterations; Y0 and Y1 hold the operands, then Y0 the result.
// Y15 holds the canonical float32 NaN in every lane, Y14 one in every integer lane, Y13 0x7fff.

#define BEGIN \
	MOVQ dst+0(FP), DI; \
	MOVQ a+8(FP), SI; \
	MOVQ b+16(FP), R8; \
	MOVQ n+24(FP), CX; \
	SHRQ $3, CX

#define END \
	VZEROUPPER; \
	RET

#define NEXT(bytes) \
	ADDQ $bytes, SI; \
	ADDQ $bytes, R8; \
	ADDQ $bytes, DI; \
	DECQ CX

#define CONSTANT(value, xmm, ymm) \
	MOVL $value, AX; \
	VMOVD AX, xmm; \
	VPBROADCASTD xmm, ymm

#define CONSTANTS_F \
	CONSTANT(0x7fc00000, X15, Y15)

#define CONSTANTS_BF16 \
	CONSTANTS_F; \
	CONSTANT(1, X14, Y14); \
	CONSTANT(0x7fff, X13, Y13)

// Operands.

#define LOAD_F16 \
	VCVTPH2PS (SI), Y0; \
	VCVTPH2PS (R8), Y1

#define LOAD_BF16 \
	VPMOVZXWD (SI), Y0; \
	VPMOVZXWD (R8), Y1; \
	VPSLLD $16, Y0, Y0; \
	VPSLLD $16, Y1, Y1

#define LOAD_32 \
	VMOVDQU (SI), Y0; \
	VMOVDQU (R8), Y1

// Operations. CANON puts the canonical NaN wherever the result is NaN.

#define CANON \
	VCMPPS $3, Y0, Y0, Y2; \
	VBLENDVPS Y2, Y15, Y0, Y0

#define ADD \
	VADDPS Y1, Y0, Y0; \
	CANON

#define SUB \
	VSUBPS Y1, Y0, Y0; \
	CANON

#define MUL \
	VMULPS Y1, Y0, Y0; \
	CANON

// MAXPS gives its second source when the two are equal, so zeros of unlike sign come out differently in the two
// orders: AND makes +0 of them for the maximum, OR makes −0 for the minimum, and neither changes equal values.

#define MAX \
	VMAXPS Y1, Y0, Y2; \
	VMAXPS Y0, Y1, Y3; \
	VCMPPS $3, Y0, Y1, Y4; \
	VANDPS Y2, Y3, Y0; \
	VBLENDVPS Y4, Y15, Y0, Y0

#define MIN \
	VMINPS Y1, Y0, Y2; \
	VMINPS Y0, Y1, Y3; \
	VCMPPS $3, Y0, Y1, Y4; \
	VORPS Y2, Y3, Y0; \
	VBLENDVPS Y4, Y15, Y0, Y0

// Results.

#define STORE_F16 \
	VCVTPS2PH $0, Y0, (DI)

// Round to nearest even: add just under a half of the last kept place, and one more when that place is odd.
#define STORE_BF16 \
	VPSRLD $16, Y0, Y2; \
	VPAND Y14, Y2, Y2; \
	VPADDD Y13, Y0, Y0; \
	VPADDD Y2, Y0, Y0; \
	VPSRLD $16, Y0, Y0; \
	VPACKUSDW Y0, Y0, Y0; \
	VPERMQ $8, Y0, Y0; \
	VMOVDQU X0, (DI)

#define STORE_32 \
	VMOVDQU Y0, (DI)
