//! The logarithm of the gamma function, for arguments from 1 on.

/// Coefficients of Stirling's series: Bernoulli numbers over 2 k (2 k - 1).
const SERIES: [f64; 6] =
    [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];

/// Good to 1e-13 of the larger of itself and 1.
pub(super) fn lgamma(x: f64) -> f64 {
    debug_assert!(x >= 1.0);
    // The series is good from 10 on; until there, by gamma(x + 1) = x gamma(x).
    let (mut at, mut product) = (x, 1.0);
    while at < 10.0 {
        product *= at;
        at += 1.0;
    }
    let inverse = 1.0 / (at * at);
    let series = SERIES.iter().rev().fold(0.0, |sum, c| sum * inverse + c) / at;
    let half_log_2_pi = 0.918_938_533_204_672_8;
    (at - 0.5) * at.ln() - at + half_log_2_pi + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::lgamma;

    #[test]
    fn factorials() {
        let mut log = 0.0_f64;
        for n in 1..2000 {
            let x = f64::from(n);
            let got = lgamma(x);
            assert!((got - log).abs() <= 1e-12 * log.max(1.0), "{x}: {got} not {log}");
            log += x.ln();
        }
        let half = lgamma(1.5);
        assert!((half - (std::f64::consts::PI.sqrt() / 2.0).ln()).abs() < 1e-13);
    }
}
