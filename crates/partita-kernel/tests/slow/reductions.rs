//! Reductions by plain rules, with a bound on what the order of combining may change.

use super::number::{Number, wrap};
use partita_kernel::{Dtype, Kind, Reduction};

/// Whether a result is right for these items, in C order.
pub fn right(
    reduction: Reduction,
    dtype: Dtype,
    items: &[Number],
    correction: f64,
    given: Number,
) -> bool {
    let floating = matches!(dtype.kind(), Kind::Float | Kind::Complex);
    match reduction {
        Reduction::Any => given.truth() == items.iter().any(|x| x.truth()),
        Reduction::All => given.truth() == items.iter().all(|x| x.truth()),
        Reduction::Count => given.int() == items.iter().filter(|x| x.truth()).count() as i128,
        Reduction::Sum | Reduction::Product if !floating => {
            let one = i128::from(reduction == Reduction::Product);
            let combine = |all: i128, x: &Number| match one {
                0 => wrap(all + x.int(), dtype).int(),
                _ => wrap(all.wrapping_mul(x.int()), dtype).int(),
            };
            given.int() == items.iter().fold(one, combine)
        }
        Reduction::ArgMin | Reduction::ArgMax => given.int() == best(reduction, items) as i128,
        Reduction::Minimum
        | Reduction::Maximum
        | Reduction::ArgMinValue
        | Reduction::ArgMaxValue => {
            let is_first = matches!(reduction, Reduction::Minimum | Reduction::ArgMinValue);
            let end = if is_first { Reduction::ArgMin } else { Reduction::ArgMax };
            let wanted = items[best(end, items)];
            given.float() == wanted.float() || given.same(wanted)
        }
        Reduction::Sum => close_sum(dtype, items, 1.0, given),
        Reduction::Mean => items.is_empty() || close_sum(dtype, items, items.len() as f64, given),
        Reduction::Product => close_product(dtype, items, given),
        Reduction::VarianceMean => {
            let is_far = items.iter().any(|x| x.float().is_nan() || x.float().abs() >= 1e15);
            items.is_empty() || is_far || close_sum(dtype, items, items.len() as f64, given)
        }
        Reduction::Variance => close_variance(dtype, items, correction, given),
    }
}

fn best(end: Reduction, items: &[Number]) -> usize {
    let nan = |x: &Number| matches!(x, Number::Float(f) if f.is_nan());
    if let Some(at) = items.iter().position(nan) {
        return at;
    }
    let before = |x: &Number, y: &Number| match (x, y) {
        (Number::Float(a), Number::Float(b)) => a < b,
        _ => x.int() < y.int(),
    };
    let mut at = 0;
    for (i, x) in items.iter().enumerate() {
        let better = match end {
            Reduction::ArgMin => before(x, &items[at]),
            _ => before(&items[at], x),
        };
        if better {
            at = i;
        }
    }
    at
}

fn unit(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::Float16 => 2.0_f64.powi(-10),
        Dtype::BFloat16 => 2.0_f64.powi(-7),
        Dtype::Float32 | Dtype::Complex64 => 2.0_f64.powi(-23),
        _ => 2.0_f64.powi(-52),
    }
}

fn parts(x: Number) -> [f64; 2] {
    match x {
        Number::Complex(re, im) => [re, im],
        other => [other.float(), 0.0],
    }
}

fn close_sum(dtype: Dtype, items: &[Number], divisor: f64, given: Number) -> bool {
    (0..2).all(|part| {
        let all = || items.iter().map(|&x| parts(x)[part]);
        let (sum, size) = (all().sum::<f64>(), all().map(f64::abs).sum::<f64>());
        let given = parts(given)[part];
        if all().any(|x| !x.is_finite()) {
            // Infinities and NaN win, whatever the order.
            return given.is_nan() == sum.is_nan() && (sum.is_nan() || given == sum);
        }
        let largest = match dtype {
            Dtype::Float16 => 60000.0,
            Dtype::Float64 | Dtype::Complex128 => 1e307,
            _ => 1e38,
        };
        if size > largest {
            return true;
        }
        (given - sum / divisor).abs() <= (items.len() as f64 + 2.0) * unit(dtype) * size + 1e-300
            || dtype == Dtype::Float16 && size < 1e-2
            || dtype != Dtype::Float64 && size < 1e-30
    })
}

fn close_product(dtype: Dtype, items: &[Number], given: Number) -> bool {
    if dtype.kind() == Kind::Complex {
        return close_complex_product(dtype, items, given);
    }
    let all = || items.iter().map(|x| x.float());
    if all().any(|x| x.is_nan()) {
        return given.float().is_nan();
    }
    let product = all().product::<f64>();
    let half = dtype.size() == 2 && !(1e-3..1e3).contains(&product.abs());
    if half || may_overflow(dtype, all()) {
        return true;
    }
    (given.float() - product).abs() <= (items.len() as f64 + 2.0) * unit(dtype) * product.abs()
}

/// Whether some order of multiplying leaves the range of the type on the way.
fn may_overflow(dtype: Dtype, sizes: impl Iterator<Item = f64>) -> bool {
    let extreme = sizes.map(|x| x.abs().max(1.0) / x.abs().min(1.0)).product::<f64>();
    let most = match dtype {
        Dtype::Float64 => 1e300,
        // Parts of a product are sums of products of parts.
        Dtype::Complex128 => 1e150,
        Dtype::Complex64 => 1e18,
        _ => 1e37,
    };
    extreme.is_nan() || extreme >= most
}

/// Every multiplication errs by at most a few units of the product's size, in each part.
fn close_complex_product(dtype: Dtype, items: &[Number], given: Number) -> bool {
    let all = || items.iter().map(|&x| parts(x));
    let [re, im] = parts(given);
    if all().flatten().any(|x| x.is_nan()) {
        // One item may stay as it is; a product has NaN in both parts.
        return re.is_nan() && im.is_nan() || items.len() == 1 && (re.is_nan() || im.is_nan());
    }
    let sizes = || all().map(|[re, im]| re.hypot(im));
    if may_overflow(dtype, sizes()) {
        return true;
    }
    let times = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a * c - b * d, a * d + b * c];
    let [wanted_re, wanted_im] = all().fold([1.0, 0.0], times);
    let bound = 4.0 * (items.len() as f64 + 2.0) * unit(dtype) * sizes().product::<f64>();
    (re - wanted_re).abs() <= bound && (im - wanted_im).abs() <= bound
}

fn close_variance(dtype: Dtype, items: &[Number], correction: f64, given: Number) -> bool {
    let n = items.len() as f64;
    let all = || items.iter().map(|x| x.float());
    let divisor = (n - correction).max(0.0);
    if items.is_empty() || divisor == 0.0 || all().any(|x| x.is_nan() || x.abs() >= 1e15) {
        return true;
    }
    let mean = all().sum::<f64>() / n;
    let wanted = all().map(|x| (x - mean) * (x - mean)).sum::<f64>() / divisor;
    let noise = all().map(|x| x * x).sum::<f64>() * 1e-28;
    let small = if dtype.size() == 2 { 1e-3 } else { 1e-30 };
    let large = if dtype == Dtype::Float16 { 6e4 } else { 1e37 };
    wanted > large
        || (given.float() - wanted).abs()
            <= (n * 1e-15 + 2.0 * unit(dtype)) * wanted + noise + small
}
