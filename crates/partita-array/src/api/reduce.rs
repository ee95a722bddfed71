//! Reductions: which type they compute in, and what becomes of the axes.

use partita_kernel::{Dtype, Kind, Op, Reduction};

use super::error::{ApiError, Result};
use super::function::{Operand, positive};
use super::number::Number;
use crate::local::{Array, Engine, Input, Running};

/// A reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the Array API")]
pub enum How {
    Sum,
    Prod,
    Min,
    Max,
    Mean,
    Var,
    Std,
    Any,
    All,
    CountNonzero,
    ArgMin,
    ArgMax,
}

impl How {
    const ALL: [(&'static str, How); 12] = [
        ("sum", How::Sum),
        ("prod", How::Prod),
        ("min", How::Min),
        ("max", How::Max),
        ("mean", How::Mean),
        ("var", How::Var),
        ("std", How::Std),
        ("any", How::Any),
        ("all", How::All),
        ("count_nonzero", How::CountNonzero),
        ("argmin", How::ArgMin),
        ("argmax", How::ArgMax),
    ];

    /// The reduction of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, how)| *how)
    }

    /// The Array API's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, how)| *how == self).map_or("", |(name, _)| name)
    }

    fn reduction(self) -> Reduction {
        match self {
            Self::Sum => Reduction::Sum,
            Self::Prod => Reduction::Product,
            Self::Min => Reduction::Minimum,
            Self::Max => Reduction::Maximum,
            Self::Mean => Reduction::Mean,
            Self::Var | Self::Std => Reduction::Variance,
            Self::Any => Reduction::Any,
            Self::All => Reduction::All,
            Self::CountNonzero => Reduction::Count,
            Self::ArgMin => Reduction::ArgMin,
            Self::ArgMax => Reduction::ArgMax,
        }
    }

    /// The type in which elements of a type are combined.
    fn computes_in(self, dtype: Dtype) -> Dtype {
        let is_whole = !matches!(dtype.kind(), Kind::Float | Kind::Complex);
        match self {
            Self::Sum | Self::Prod => summed(dtype),
            Self::Mean | Self::Var | Self::Std if is_whole => Dtype::Float64,
            Self::Any | Self::All => Dtype::Bool,
            _ => dtype,
        }
    }
}

/// The type of a sum: small integers grow, so that it fits.
fn summed(dtype: Dtype) -> Dtype {
    match dtype.kind() {
        Kind::Bool | Kind::Signed => Dtype::Int64,
        Kind::Unsigned => Dtype::UInt64,
        Kind::Float | Kind::Complex => dtype,
    }
}

/// Which axes are combined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axes {
    /// All.
    All,
    /// Some; negative ones count from the end.
    Some(Vec<i64>),
}

impl Axes {
    /// The axes of an array of so many dimensions, in order.
    ///
    /// # Errors
    /// Axes that are not there, or twice.
    pub fn of(&self, ndim: usize) -> Result<Vec<usize>> {
        let Self::Some(given) = self else { return Ok((0..ndim).collect()) };
        let mut axes = Vec::with_capacity(given.len());
        for &axis in given {
            let outside = ApiError::AxisOutside { axis, ndim };
            let counted = if axis < 0 { axis + ndim as i64 } else { axis };
            let found = usize::try_from(counted).ok().filter(|axis| *axis < ndim).ok_or(outside)?;
            if axes.contains(&found) {
                return Err(ApiError::AxisTwice { axis });
            }
            axes.push(found);
        }
        axes.sort_unstable();
        Ok(axes)
    }
}

/// What a reduction is asked to do.
#[derive(Debug, Clone)]
pub struct Reducing {
    /// How elements are combined.
    pub how: How,
    /// Over which axes.
    pub axes: Axes,
    /// Whether these stay, with size 1.
    pub keeps_dims: bool,
    /// The type of the result, if it is not to follow from the elements'.
    pub dtype: Option<Dtype>,
    /// What the divisor of a variance is less than the number of elements.
    pub correction: f64,
}

/// Combines elements over axes.
///
/// # Errors
/// Axes that are not there; types without such a reduction; nothing to combine.
pub fn reduce(engine: &Engine, array: &Array, what: &Reducing) -> Result<Array> {
    let axes = what.axes.of(array.ndim())?;
    let how = what.how;
    let typed = match what.dtype {
        Some(dtype) if matches!(how, How::Sum | How::Prod | How::Mean) => dtype,
        Some(dtype) => how.computes_in(dtype),
        None => how.computes_in(array.dtype()),
    };
    let reduction = how.reduction();
    let is_spread = matches!(how, How::Var | How::Std);
    if !reduction.takes(if is_spread { typed.real() } else { typed }) {
        let (function, wanted) = (how.name().to_string(), "real numbers".to_string());
        return Err(ApiError::TypeRefused { function, given: array.dtype(), wanted });
    }
    let is_empty = axes.iter().any(|axis| array.shape()[*axis] == 0);
    if is_empty && matches!(how, How::Min | How::Max | How::ArgMin | How::ArgMax) {
        let (function, shape) = (how.name().to_string(), array.shape().to_vec());
        return Err(ApiError::NothingToReduce { function, shape });
    }
    let cast = engine.cast(array, typed)?;
    let made = match how {
        // Nothing to combine over: each element is alone.
        _ if axes.is_empty() => alone(engine, &cast, how, what.correction)?,
        How::Var | How::Std => variance(engine, &cast, &axes, what.correction)?,
        How::Mean if typed.kind() == Kind::Complex => complex_mean(engine, &cast, &axes)?,
        _ => engine.reduce(&cast, reduction, &axes)?,
    };
    let made = if how == How::Std { engine.apply(Op::SquareRoot, &[&made])? } else { made };
    let made = match what.dtype {
        Some(dtype) => engine.cast(&made, dtype)?,
        None => made,
    };
    Ok(if what.keeps_dims { made } else { made.without_axes(&axes) })
}

/// The variance; of complex numbers that of the real and of the imaginary parts together.
fn variance(engine: &Engine, array: &Array, axes: &[usize], correction: f64) -> Result<Array> {
    if array.dtype().kind() != Kind::Complex {
        return Ok(engine.variance(array, axes, correction)?);
    }
    let part = |op: Op| engine.variance(&engine.apply(op, &[array])?, axes, correction);
    Ok(engine.apply(Op::Add, &[&part(Op::Real)?, &part(Op::Imag)?])?)
}

/// The mean of complex numbers: the sum is divided by a complex number, as NumPy divides it, so that
/// an infinite part leaves no number in the other.
fn complex_mean(engine: &Engine, array: &Array, axes: &[usize]) -> Result<Array> {
    let n_elements: u64 = axes.iter().map(|axis| array.shape()[*axis] as u64).product();
    let divisor = Number::Complex(n_elements as f64, 0.0).to_scalar(array.dtype())?;
    let sum = engine.reduce(array, Reduction::Sum, axes)?;
    Ok(engine.apply_to(Op::Divide, &[Input::Array(&sum), Input::Number(divisor)])?)
}

/// What a reduction over no axes gives.
fn alone(engine: &Engine, array: &Array, how: How, correction: f64) -> Result<Array> {
    let number = |number: Number, dtype: Dtype| number.to_scalar(dtype).map(Input::Number);
    Ok(match how {
        How::CountNonzero => {
            let zero = number(Number::Int(0), array.dtype())?;
            let truths = engine.apply_to(Op::NotEqual, &[Input::Array(array), zero])?;
            engine.cast(&truths, Dtype::Int64)?
        }
        How::ArgMin | How::ArgMax => {
            engine.fill(array.shape(), Number::Int(0).to_scalar(Dtype::Int64)?)?
        }
        How::Var | How::Std => {
            let own = engine.apply(Op::Subtract, &[array, array])?;
            let real = if own.dtype().kind() == Kind::Complex {
                engine.apply(Op::Absolute, &[&own])?
            } else {
                own
            };
            let divisor = number(Number::Float((1.0 - correction).max(0.0)), real.dtype())?;
            engine.apply_to(Op::Divide, &[Input::Array(&real), divisor])?
        }
        _ => positive(engine, Operand::Array(array))?,
    })
}

/// Running sums or products along an axis.
///
/// # Errors
/// An axis that is not there or not given.
pub fn running(
    engine: &Engine,
    array: &Array,
    how: Running,
    axis: Option<i64>,
    dtype: Option<Dtype>,
) -> Result<Array> {
    let axis = match axis {
        Some(axis) => Axes::Some(vec![axis]).of(array.ndim())?[0],
        None if array.ndim() == 1 => 0,
        None => {
            let function = match how {
                Running::Sum => "cumulative_sum",
                Running::Product => "cumulative_prod",
            };
            let (function, ndim) = (function.to_string(), array.ndim());
            return Err(ApiError::AxisNeeded { function, ndim });
        }
    };
    let typed = dtype.unwrap_or_else(|| summed(array.dtype()));
    Ok(engine.run_along(&engine.cast(array, typed)?, how, axis)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_shapes_follow_the_standard() {
        let engine = Engine::new();
        let bytes: Vec<u8> = (1..=6).collect();
        let array = engine.from_bytes(&[2, 3], Dtype::UInt8, &bytes).expect("an array");
        let asked = |how, axes, keeps_dims| {
            let what = Reducing { how, axes, keeps_dims, dtype: None, correction: 0.0 };
            reduce(&engine, &array, &what).expect("a result")
        };
        let rows = asked(How::Sum, Axes::Some(vec![-1]), false);
        assert_eq!((rows.shape(), rows.to_vec::<u64>().expect("sums")), (&[2][..], vec![6, 15]));
        let mean = asked(How::Mean, Axes::All, true);
        assert_eq!((mean.shape(), mean.to_vec::<f64>().expect("mean")), (&[1, 1][..], vec![3.5]));
        let spread = asked(How::Std, Axes::Some(vec![0]), false);
        assert_eq!(spread.to_vec::<f64>().expect("spread"), [1.5; 3]);
        let none = asked(How::Var, Axes::Some(vec![]), false);
        assert_eq!(none.to_vec::<f64>().expect("zeros"), [0.0; 6]);
    }
}
