//! Types of values. They are cheap to clone: numbers are plain, everything larger is shared.

mod env;
mod scalar;
mod size;

use std::sync::Arc;

pub use env::{DistEnv, Env, Grid, MAX_CUTS};
pub use scalar::{Scalar, Sign};
pub use size::{DYNAMIC, Size, by_x, shapes_may_equal};

use crate::attr::Attr;

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number.
    Scalar(Scalar),
    /// `!ndarray.ndarray<..>`: an array that is referred to and can be written.
    Array(Arc<ArrayType>),
    /// `memref<..>`: memory of one rank.
    MemRef(Arc<MemRefType>),
    /// `tensor<..>`: a value, dense or sparse, local or (by its encoding) partitioned.
    Tensor(Arc<TensorType>),
    /// `!distruntime.asynchandle`: communication under way.
    Handle,
    /// `(..) -> (..)`.
    Function(Arc<FunctionType>),
    /// `none`.
    None,
    /// A type of another dialect, kept as it was written.
    Other(Arc<str>),
}

/// An array with its environments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayType {
    /// Size of each dimension.
    pub shape: Vec<Size>,
    /// What it is made of.
    pub element: Scalar,
    /// Layout of its memory, if it is not the usual one.
    pub layout: Option<Arc<str>>,
    /// Environments in the order they were written.
    pub envs: Vec<Env>,
}

/// Memory of one rank.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemRefType {
    /// Size of each dimension.
    pub shape: Vec<Size>,
    /// What it is made of.
    pub element: Scalar,
    /// What follows the element type: strides, a map, a memory space.
    pub more: Vec<Attr>,
}

/// A tensor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Size of each dimension.
    pub shape: Vec<Size>,
    /// What it is made of.
    pub element: Scalar,
    /// Sparsity or partitioning.
    pub encoding: Option<Attr>,
}

/// Inputs and results of a function.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FunctionType {
    /// Types of the arguments.
    pub inputs: Vec<Type>,
    /// Types of the results.
    pub results: Vec<Type>,
}

impl Type {
    /// `index`.
    pub const INDEX: Self = Self::Scalar(Scalar::Index);
    /// `i1`.
    pub const BOOL: Self = Self::Scalar(Scalar::BOOL);
    /// `i64`.
    pub const I64: Self = Self::Scalar(Scalar::I64);
    /// `i32`.
    pub const I32: Self = Self::Scalar(Scalar::I32);
    /// `f64`.
    pub const F64: Self = Self::Scalar(Scalar::F64);

    /// An array without environments.
    #[must_use]
    pub fn array(shape: &[Size], element: Scalar) -> Self {
        ArrayType { shape: shape.to_vec(), element, layout: None, envs: Vec::new() }.into()
    }

    /// A distributed array.
    #[must_use]
    pub fn dist_array(shape: &[Size], element: Scalar, env: DistEnv) -> Self {
        let envs = vec![Env::Dist(env.into())];
        ArrayType { shape: shape.to_vec(), element, layout: None, envs }.into()
    }

    /// Memory with nothing special about it.
    #[must_use]
    pub fn memref(shape: &[Size], element: Scalar) -> Self {
        MemRefType { shape: shape.to_vec(), element, more: Vec::new() }.into()
    }

    /// A tensor without encoding.
    #[must_use]
    pub fn tensor(shape: &[Size], element: Scalar) -> Self {
        TensorType { shape: shape.to_vec(), element, encoding: None }.into()
    }

    /// The array type, if it is one.
    #[must_use]
    pub fn as_array(&self) -> Option<&ArrayType> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// How it is distributed, if it is an array and distributed.
    #[must_use]
    pub fn dist(&self) -> Option<&DistEnv> {
        self.as_array().and_then(ArrayType::dist)
    }

    /// The number's type, if it is a number.
    #[must_use]
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// Shape of an array, memory or tensor.
    #[must_use]
    pub fn shape(&self) -> Option<&[Size]> {
        match self {
            Self::Array(array) => Some(&array.shape),
            Self::MemRef(memref) => Some(&memref.shape),
            Self::Tensor(tensor) => Some(&tensor.shape),
            _ => None,
        }
    }

    /// What an array, memory or tensor is made of; a number's own type.
    #[must_use]
    pub fn element(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) => Some(*scalar),
            Self::Array(array) => Some(array.element),
            Self::MemRef(memref) => Some(memref.element),
            Self::Tensor(tensor) => Some(tensor.element),
            _ => None,
        }
    }
}

impl ArrayType {
    /// How it is distributed, if it is.
    #[must_use]
    pub fn dist(&self) -> Option<&DistEnv> {
        self.envs.iter().find_map(|env| match env {
            Env::Dist(dist) => Some(&**dist),
            _ => None,
        })
    }

    /// Name of its device, if it has one.
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.envs.iter().find_map(|env| match env {
            Env::Gpu(device) => Some(&**device),
            _ => None,
        })
    }

    /// The same with another shape. How it was distributed is forgotten, the team is not.
    #[must_use]
    pub fn with_shape(&self, shape: &[Size]) -> Self {
        let mut new = Self { shape: shape.to_vec(), ..self.clone() };
        if let Some(dist) = self.dist() {
            new.set_dist(Some(DistEnv::unknown(dist.team.clone(), shape.len())));
        }
        new
    }

    /// Distributes it otherwise, or not at all.
    pub fn set_dist(&mut self, dist: Option<DistEnv>) {
        let at = self.envs.iter().position(|env| matches!(env, Env::Dist(_)));
        match (at, dist) {
            (Some(at), Some(dist)) => self.envs[at] = Env::Dist(dist.into()),
            (None, Some(dist)) => self.envs.push(Env::Dist(dist.into())),
            (Some(at), None) => drop(self.envs.remove(at)),
            (None, None) => {}
        }
    }
}

impl From<Scalar> for Type {
    fn from(scalar: Scalar) -> Self {
        Self::Scalar(scalar)
    }
}

impl From<ArrayType> for Type {
    fn from(array: ArrayType) -> Self {
        Self::Array(array.into())
    }
}

impl From<MemRefType> for Type {
    fn from(memref: MemRefType) -> Self {
        Self::MemRef(memref.into())
    }
}

impl From<TensorType> for Type {
    fn from(tensor: TensorType) -> Self {
        Self::Tensor(tensor.into())
    }
}

impl From<FunctionType> for Type {
    fn from(function: FunctionType) -> Self {
        Self::Function(function.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_shape_keeps_the_team_only() {
        let mut env = DistEnv::unknown(Attr::i64(7), 1);
        env.loffs = vec![Size::Known(3)];
        let array = Type::dist_array(&[Size::Known(8)], Scalar::F64, env);
        let new = array.as_array().expect("an array").with_shape(&[Size::Dynamic, Size::Known(2)]);
        assert_eq!(new.dist(), Some(&DistEnv::unknown(Attr::i64(7), 2)));
    }

    #[test]
    fn distribution_comes_and_goes() {
        let mut array = ArrayType {
            shape: vec![Size::Known(4)],
            element: Scalar::F32,
            layout: None,
            envs: vec![Env::Gpu("a".into())],
        };
        array.set_dist(Some(DistEnv::unknown(Attr::i64(1), 1)));
        assert_eq!(array.envs.len(), 2);
        array.set_dist(None);
        assert_eq!((array.device(), array.dist()), (Some("a"), None));
    }
}
