//! Errors in units of the last place.

use partita_kernel::math::Binary;

/// The unit of the last place of a float64.
pub fn unit(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff).max(1);
    if exponent > 52 {
        f64::from_bits((exponent - 52) << 52)
    } else {
        f64::from_bits(1 << (exponent - 1))
    }
}

/// The error of y in units of the last place of the value high + low; NaN if only one is NaN.
pub fn ulps(y: f64, high: f64, low: f64) -> f64 {
    if y.is_nan() || high.is_nan() {
        return if y.is_nan() && high.is_nan() { 0.0 } else { f64::NAN };
    }
    if y == high {
        // Equal infinities and zeros have no error; others have what the quad value has more.
        return if high.is_infinite() || high == 0.0 { 0.0 } else { (low / unit(high)).abs() };
    }
    if high.is_infinite() || y.is_infinite() {
        return f64::INFINITY;
    }
    (((y - high) - low) / unit(high)).abs()
}

/// The error of a function of two arguments. That of logaddexp is in units of at least log 2's.
pub fn ulps2(function: Binary, y: f64, high: f64, low: f64) -> f64 {
    if function == Binary::Logaddexp && high.abs() < std::f64::consts::LN_2 {
        return ((y - high) - low).abs() / unit(std::f64::consts::LN_2);
    }
    ulps(y, high, low)
}

/// The error of y in units of the last place of float32.
pub fn ulps32(y: f32, exact: f64) -> f64 {
    if y.is_nan() || exact.is_nan() {
        return if y.is_nan() && exact.is_nan() { 0.0 } else { f64::NAN };
    }
    let rounded = exact as f32;
    if y == rounded && (exact == 0.0 || y.is_infinite()) {
        return 0.0;
    }
    if y.is_infinite() || rounded.is_infinite() {
        return f64::INFINITY;
    }
    let exponent = ((exact.abs().to_bits() >> 52) as i64 - 1023).max(-126);
    let unit = f64::from_bits(((exponent - 23 + 1023) as u64) << 52);
    ((f64::from(y) - exact) / unit).abs()
}
