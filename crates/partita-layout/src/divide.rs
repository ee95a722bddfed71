//! Division by a number known in advance, as one multiplication.
//!
//! Translating ten million indices is bound by its divisions; a hardware division costs several
//! times a multiplication. The magic number is the round-up one of Granlund and Montgomery, exact
//! for every dividend below 2^63.

/// Divides numbers below 2^63 by a fixed divisor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Divider {
    magic: u64,
    shift: u32,
}

impl Divider {
    /// A divider by `divisor`; anything above 2^63 gives 0 for every dividend, as it should.
    pub(crate) fn new(divisor: u64) -> Self {
        debug_assert!(divisor > 0);
        let divisor = divisor.min(1 << 63);
        let shift = 64 - (divisor - 1).leading_zeros();
        let magic = (1_u128 << (63 + shift)).div_ceil(u128::from(divisor));
        Self { magic: magic as u64, shift }
    }

    /// `dividend / divisor`.
    #[inline(always)]
    pub(crate) fn divide(self, dividend: u64) -> u64 {
        let product = u128::from(dividend << 1) * u128::from(self.magic);
        ((product >> 64) as u64) >> self.shift
    }
}

/// Divides numbers below 2^31 by a fixed divisor, in products that fit 64 bits.
///
/// Loops over it turn into vector instructions, which have no 128-bit product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SmallDivider {
    magic: u64,
    shift: u32,
}

impl SmallDivider {
    /// A divider by `divisor`; anything above 2^31 gives 0 for every dividend.
    pub(crate) fn new(divisor: u64) -> Self {
        debug_assert!(divisor > 0);
        let divisor = divisor.min(1 << 31);
        let shift = 31 + (64 - (divisor - 1).leading_zeros());
        Self { magic: (1_u64 << shift).div_ceil(divisor), shift }
    }

    /// `dividend / divisor`.
    #[inline(always)]
    pub(crate) fn divide(self, dividend: u64) -> u64 {
        // Both factors are below 2^32; saying so lets the compiler use the narrow product.
        ((dividend & 0xFFFF_FFFF) * (self.magic & 0xFFFF_FFFF)) >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_hardware_division() {
        let top = (1_u64 << 63) - 1;
        let divisors = (1..200).chain([1 << 20, (1 << 20) + 1, (1 << 62) - 1, 1 << 62, top]);
        for divisor in divisors {
            let divider = Divider::new(divisor);
            let near = (0..40).map(|k| divisor.saturating_mul(k));
            let dividends = near
                .flat_map(|x| [x.saturating_sub(1), x, x.saturating_add(1)])
                .chain([top, top - 1]);
            for dividend in dividends.filter(|x| *x <= top) {
                assert_eq!(divider.divide(dividend), dividend / divisor, "{dividend} / {divisor}");
            }
        }
        assert_eq!(Divider::new(u64::MAX).divide(top), 0);
    }

    #[test]
    fn small_division_agrees_too() {
        let top = (1_u64 << 31) - 1;
        for divisor in (1..300).chain([1 << 20, (1 << 20) + 1, top - 1, top, 1 << 31, u64::MAX]) {
            let divider = SmallDivider::new(divisor);
            let near = (0..50).map(|k| divisor.saturating_mul(k));
            let dividends = near
                .flat_map(|x| [x.saturating_sub(1), x, x.saturating_add(1)])
                .chain([top, top - 1]);
            for dividend in dividends.filter(|x| *x <= top) {
                assert_eq!(divider.divide(dividend), dividend / divisor, "{dividend} / {divisor}");
            }
        }
    }
}
