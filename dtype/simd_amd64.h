// Macros of the vector loops. Each loop has the signature func(dst, a, b *byte, n int). n is a
// positive multiple of 8, and an iteration processes 8 elements. DI points into dst, SI into a, and
// R8 into b. CX counts the iterations that are left. Y0 and Y1 hold the operands, and then Y0 holds
// the result. Three registers hold a constant in every lane: Y15 the canonical float32 NaN, Y14 the
// integer 1, and Y13 the integer 0x7fff.

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

// Loads of 8 elements of a and b into Y0 and Y1, as float32 or as 32-bit words.

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

// Operations. CANON replaces every NaN of the result by the canonical NaN.

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

// MAX and MIN compute the result in both operand orders. VMAXPS and VMINPS return the second source
// if the two are equal, so +0 and −0 give a different zero in each order. AND of the two results is
// +0, the maximum. OR is −0, the minimum. Both leave equal results unchanged.

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

// Stores of the 8 elements in Y0 to dst.

#define STORE_F16 \
	VCVTPS2PH $0, Y0, (DI)

// STORE_BF16 rounds to nearest even. It adds 0x7fff, just under half of the last kept bit, and 1
// more if that bit is 1.
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
