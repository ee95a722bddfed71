//! Matrices: products, factorisations, equations, eigenvalues.
//!
//! - `view.rs`, `stack.rs`: matrices in memory, one or many.
//! - `product/`: products; `power.rs`: powers; `norm.rs`: norms.
//! - `cholesky.rs`, `lu.rs`, `qr.rs`: factors and what they solve; `triangular.rs`: halves.
//! - `svd.rs`, `eigen.rs`: singular values, least squares; eigenvalues.
//! - `field.rs`: what factorisations need of their elements. `error.rs`: what can go wrong.
//! - `faer_view.rs`, `pool.rs`: faer, which factors; its threads.
//!
//! Factorisations work on copies in faer's order: results do not depend on how the input lies.

mod cholesky;
mod compiled;
mod eigen;
mod error;
mod faer_view;
mod field;
mod lu;
#[cfg(test)]
mod memory;
mod norm;
mod pool;
mod power;
mod product;
mod qr;
mod stack;
mod svd;
mod triangular;
mod view;

pub use cholesky::{Triangle, cholesky};
pub use compiled::{Factorised, Multiplied};
pub use eigen::{eig, eigh};
pub use error::{MatrixError, Result};
pub use field::{Field, Part};
pub use lu::{Lu, inverse, solve, solve_stack};
pub use norm::{Norm, norm};
pub use power::matrix_power;
pub use product::{Conjugate, Dot, Into, Multiply, Number, Truth, matmul, matmul_stack, vecdot};
pub use qr::Qr;
pub use stack::{Stack, StackMut, each_matrix};
pub use svd::{LeastSquares, Svd, Vectors, lstsq, matrix_rank, pinv};
pub use triangular::{Diagonal, Side, Triangular, solve_triangular};
pub use view::{View, ViewMut};

#[cfg(test)]
mod tests;
