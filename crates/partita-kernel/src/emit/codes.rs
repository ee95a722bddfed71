//! Which instruction computes what, for both widths of vectors and both sizes of lanes.

use crate::dtype::{Dtype, Kind};
use crate::program::Op;
use iced_x86::Code;
use iced_x86::Code::*;

/// The width of vectors and the size of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// AVX-512 rather than AVX2.
    pub wide: bool,
    /// Bytes of a lane: 4 or 8.
    pub lane: usize,
}

impl Shape {
    /// Lanes of a vector.
    pub fn n_lanes(self) -> usize {
        self.n_bytes() / self.lane
    }

    /// Bytes of a vector.
    pub fn n_bytes(self) -> usize {
        if self.wide { 64 } else { 32 }
    }

    /// Of four instructions (narrow with lanes of 8 and 4, wide with 8 and 4) the one of this shape.
    pub fn of(self, codes: [Code; 4]) -> Code {
        codes[2 * usize::from(self.wide) + usize::from(self.lane == 4)]
    }
}

/// The instruction of an operation that one instruction with two sources computes.
pub fn two(op: Op, dtype: Dtype, shape: Shape) -> Option<Code> {
    let codes = match (op, dtype.kind()) {
        (Op::Add, Kind::Float) => ADD,
        (Op::Subtract, Kind::Float) => SUBTRACT,
        (Op::Multiply, Kind::Float) => MULTIPLY,
        (Op::Divide, Kind::Float) => DIVIDE,
        (Op::Add, Kind::Signed | Kind::Unsigned) => INTEGER_ADD,
        (Op::Subtract, Kind::Signed | Kind::Unsigned) => INTEGER_SUBTRACT,
        (Op::Multiply, Kind::Signed | Kind::Unsigned) => INTEGER_MULTIPLY,
        (Op::Minimum, Kind::Signed) => INTEGER_MINIMUM,
        (Op::Maximum, Kind::Signed) => INTEGER_MAXIMUM,
        (Op::BitAnd | Op::LogicalAnd, _) => AND,
        (Op::BitOr | Op::LogicalOr, _) => OR,
        (Op::BitXor | Op::LogicalXor, _) => XOR,
        _ => return None,
    };
    Some(shape.of(codes)).filter(|&code| code != INVALID)
}

/// The instruction of an operation that one instruction with one source computes, and its
/// immediate byte where it has one.
pub fn one(op: Op, shape: Shape) -> Option<(Code, Option<u32>)> {
    match op {
        Op::SquareRoot => Some((shape.of(ROOT), None)),
        Op::Floor => Some((shape.of(ROUND), Some(9))),
        Op::Ceil => Some((shape.of(ROUND), Some(10))),
        Op::Trunc => Some((shape.of(ROUND), Some(11))),
        Op::Round => Some((shape.of(ROUND), Some(8))),
        _ => None,
    }
}

/// The instruction that casts between lanes of eight bytes and numbers of four, with AVX-512.
/// Those from floating numbers to integers are not among them: they would have to stay within the
/// range.
pub fn cast(from: Dtype, to: Dtype) -> Option<Code> {
    use Kind::{Float, Signed, Unsigned};
    Some(match (from.kind(), from.size(), to.kind(), to.size()) {
        (Float, 4, Float, 8) => EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
        (Signed, 4, Float, 8) => EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
        (Unsigned, 4, Float, 8) => EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er,
        (Signed, 4, Signed | Unsigned, 8) => EVEX_Vpmovsxdq_zmm_k1z_ymmm256,
        (Unsigned, 4, Signed | Unsigned, 8) => EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
        (Float, 8, Float, 4) => EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
        (Signed, 8, Float, 4) => EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er,
        (Unsigned, 8, Float, 4) => EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er,
        (Signed | Unsigned, 8, Signed | Unsigned, 4) => EVEX_Vpmovqd_ymmm256_k1z_zmm,
        _ => return None,
    })
}

/// The predicate of a comparison of floating numbers.
pub fn float_predicate(op: Op) -> Option<u32> {
    Some(match op {
        Op::Equal => 0,
        Op::NotEqual => 4,
        Op::Less => 0x11,
        Op::LessEqual => 0x12,
        Op::GreaterEqual => 0x1d,
        Op::Greater => 0x1e,
        Op::IsNan => 3,
        _ => return None,
    })
}

/// The predicate of a comparison of integers, with AVX-512.
pub fn integer_predicate(op: Op) -> Option<u32> {
    Some(match op {
        Op::Equal => 0,
        Op::Less => 1,
        Op::LessEqual => 2,
        Op::NotEqual => 4,
        Op::GreaterEqual => 5,
        Op::Greater => 6,
        _ => return None,
    })
}

const ADD: [Code; 4] = [
    VEX_Vaddpd_ymm_ymm_ymmm256,
    VEX_Vaddps_ymm_ymm_ymmm256,
    EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
    EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
];
const SUBTRACT: [Code; 4] = [
    VEX_Vsubpd_ymm_ymm_ymmm256,
    VEX_Vsubps_ymm_ymm_ymmm256,
    EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
    EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
];
const MULTIPLY: [Code; 4] = [
    VEX_Vmulpd_ymm_ymm_ymmm256,
    VEX_Vmulps_ymm_ymm_ymmm256,
    EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
    EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
];
const DIVIDE: [Code; 4] = [
    VEX_Vdivpd_ymm_ymm_ymmm256,
    VEX_Vdivps_ymm_ymm_ymmm256,
    EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
    EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
];
const INTEGER_ADD: [Code; 4] = [
    VEX_Vpaddq_ymm_ymm_ymmm256,
    VEX_Vpaddd_ymm_ymm_ymmm256,
    EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
];
const INTEGER_SUBTRACT: [Code; 4] = [
    VEX_Vpsubq_ymm_ymm_ymmm256,
    VEX_Vpsubd_ymm_ymm_ymmm256,
    EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
];
const INTEGER_MULTIPLY: [Code; 4] = [
    INVALID,
    VEX_Vpmulld_ymm_ymm_ymmm256,
    EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
];
const INTEGER_MINIMUM: [Code; 4] = [
    INVALID,
    VEX_Vpminsd_ymm_ymm_ymmm256,
    EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
];
const INTEGER_MAXIMUM: [Code; 4] = [
    INVALID,
    VEX_Vpmaxsd_ymm_ymm_ymmm256,
    EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
];
pub const AND: [Code; 4] = [
    VEX_Vpand_ymm_ymm_ymmm256,
    VEX_Vpand_ymm_ymm_ymmm256,
    EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
];
const OR: [Code; 4] = [
    VEX_Vpor_ymm_ymm_ymmm256,
    VEX_Vpor_ymm_ymm_ymmm256,
    EVEX_Vporq_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vporq_zmm_k1z_zmm_zmmm512b64,
];
pub const XOR: [Code; 4] = [
    VEX_Vpxor_ymm_ymm_ymmm256,
    VEX_Vpxor_ymm_ymm_ymmm256,
    EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
];
const ROOT: [Code; 4] = [
    VEX_Vsqrtpd_ymm_ymmm256,
    VEX_Vsqrtps_ymm_ymmm256,
    EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
    EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
];
const ROUND: [Code; 4] = [
    VEX_Vroundpd_ymm_ymmm256_imm8,
    VEX_Vroundps_ymm_ymmm256_imm8,
    EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
    EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
];
pub const MINIMUM: [Code; 4] = [
    VEX_Vminpd_ymm_ymm_ymmm256,
    VEX_Vminps_ymm_ymm_ymmm256,
    EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
    EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
];
pub const MAXIMUM: [Code; 4] = [
    VEX_Vmaxpd_ymm_ymm_ymmm256,
    VEX_Vmaxps_ymm_ymm_ymmm256,
    EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
    EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
];
pub const FUSED: [Code; 4] = [
    VEX_Vfmadd213pd_ymm_ymm_ymmm256,
    VEX_Vfmadd213ps_ymm_ymm_ymmm256,
    EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
    EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
];
pub const COMPARE: [Code; 4] = [
    VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
    VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
    EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
    EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
];
pub const COMPARE_SIGNED: [Code; 4] = [
    INVALID,
    INVALID,
    EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
    EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
];
pub const COMPARE_UNSIGNED: [Code; 4] = [
    INVALID,
    INVALID,
    EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
    EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
];
pub const EQUAL: [Code; 4] =
    [VEX_Vpcmpeqq_ymm_ymm_ymmm256, VEX_Vpcmpeqd_ymm_ymm_ymmm256, INVALID, INVALID];
pub const GREATER: [Code; 4] =
    [VEX_Vpcmpgtq_ymm_ymm_ymmm256, VEX_Vpcmpgtd_ymm_ymm_ymmm256, INVALID, INVALID];
pub const BLEND: [Code; 4] = [
    VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
    VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
    EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64,
    EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32,
];
pub const MASK_TO_LANES: [Code; 4] = [INVALID, INVALID, EVEX_Vpmovm2q_zmm_kr, EVEX_Vpmovm2d_zmm_kr];
pub const LANES_TO_MASK: [Code; 4] = [INVALID, INVALID, EVEX_Vpmovq2m_kr_zmm, EVEX_Vpmovd2m_kr_zmm];
pub const LOAD: [Code; 4] = [
    VEX_Vmovupd_ymm_ymmm256,
    VEX_Vmovups_ymm_ymmm256,
    EVEX_Vmovupd_zmm_k1z_zmmm512,
    EVEX_Vmovups_zmm_k1z_zmmm512,
];
pub const STORE: [Code; 4] = [
    VEX_Vmovupd_ymmm256_ymm,
    VEX_Vmovups_ymmm256_ymm,
    EVEX_Vmovupd_zmmm512_k1z_zmm,
    EVEX_Vmovups_zmmm512_k1z_zmm,
];
pub const STREAM: [Code; 4] =
    [VEX_Vmovntpd_m256_ymm, VEX_Vmovntps_m256_ymm, EVEX_Vmovntpd_m512_zmm, EVEX_Vmovntps_m512_zmm];
pub const LOAD_FIRST: [Code; 4] =
    [VEX_Vmaskmovpd_ymm_ymm_m256, VEX_Vmaskmovps_ymm_ymm_m256, INVALID, INVALID];
pub const STORE_FIRST: [Code; 4] =
    [VEX_Vmaskmovpd_m256_ymm_ymm, VEX_Vmaskmovps_m256_ymm_ymm, INVALID, INVALID];
pub const BROADCAST: [Code; 4] = [
    VEX_Vpbroadcastq_ymm_xmmm64,
    VEX_Vpbroadcastd_ymm_xmmm32,
    EVEX_Vpbroadcastq_zmm_k1z_xmmm64,
    EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
];
pub const WIDEN_BYTES: [Code; 4] = [
    VEX_Vpmovzxbq_ymm_xmmm32,
    VEX_Vpmovzxbd_ymm_xmmm64,
    EVEX_Vpmovzxbq_zmm_k1z_xmmm64,
    EVEX_Vpmovzxbd_zmm_k1z_xmmm128,
];
pub const TEST: [Code; 4] =
    [INVALID, INVALID, EVEX_Vptestmq_kr_k1_zmm_zmmm512b64, EVEX_Vptestmd_kr_k1_zmm_zmmm512b32];
pub const SIGNS: [Code; 4] = [VEX_Vmovmskpd_r32_ymm, VEX_Vmovmskps_r32_ymm, INVALID, INVALID];
pub const TO_FLOAT: [Code; 4] = [
    INVALID,
    VEX_Vcvtdq2ps_ymm_ymmm256,
    EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er,
    EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
];
