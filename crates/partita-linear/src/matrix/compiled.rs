//! Products and factorisations compiled here, once, for the types that arrays have.
//!
//! Everything else is generic, and would be compiled again, in minutes, by every crate that uses
//! it. Factorisations are there for float64 and complex128: shorter numbers gain little by
//! factorisations of their own.

use super::{
    Diagonal, Into, Lu, Qr, Result, Side, Svd, Triangle, Triangular, Truth, Vectors, View, ViewMut,
};
use num_complex::{Complex32, Complex64};

/// Elements that are multiplied here.
pub trait Multiplied: Copy + Sync + Send {
    /// As [`super::matmul`].
    ///
    /// # Errors
    /// As [`super::matmul`].
    fn matmul(
        out: ViewMut<'_, Self>,
        a: View<'_, Self>,
        b: View<'_, Self>,
        into: Into,
        n_threads: usize,
    ) -> Result<()>;
}

macro_rules! multiplied {
    ($($type:ty)*) => {$(
        impl Multiplied for $type {
            fn matmul(
                out: ViewMut<'_, Self>,
                a: View<'_, Self>,
                b: View<'_, Self>,
                into: Into,
                n_threads: usize,
            ) -> Result<()> {
                super::matmul(out, a, b, into, n_threads)
            }
        }
    )*};
}
multiplied! { Truth i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex32 Complex64 }

/// Elements whose matrices are factorised here.
#[allow(clippy::missing_errors_doc, reason = "those of the functions that they name")]
pub trait Factorised: Copy + Sync + Send {
    /// As [`super::cholesky`].
    fn cholesky(
        out: ViewMut<'_, Self>,
        a: View<'_, Self>,
        triangle: Triangle,
        n_threads: usize,
    ) -> Result<()>;
    /// The packed triangles of [`Lu`]; returns its permutation.
    fn lu(
        packed: &mut ViewMut<'_, Self>,
        a: View<'_, Self>,
        n_threads: usize,
    ) -> Result<Vec<usize>>;
    /// As [`super::solve`].
    fn solve(a: View<'_, Self>, b: &mut ViewMut<'_, Self>, n_threads: usize) -> Result<()>;
    /// As [`super::solve_triangular`], from the left.
    fn solve_triangular(
        a: View<'_, Self>,
        triangle: Triangle,
        diagonal: Diagonal,
        b: &mut ViewMut<'_, Self>,
        n_threads: usize,
    ) -> Result<()>;
    /// As [`super::inverse`].
    fn inverse(out: &mut ViewMut<'_, Self>, a: View<'_, Self>, n_threads: usize) -> Result<()>;
    /// As [`Lu::sign_and_log`].
    fn sign_and_log(a: View<'_, Self>, n_threads: usize) -> Result<(Self, f64)>;
    /// The factors of [`Qr`].
    fn qr(
        q: &mut ViewMut<'_, Self>,
        r: &mut ViewMut<'_, Self>,
        a: View<'_, Self>,
        n_threads: usize,
    ) -> Result<()>;
    /// The factors of [`Svd`], the vectors into what is given for U and the adjoint of V.
    fn svd(
        a: View<'_, Self>,
        vectors: Option<(ViewMut<'_, Self>, ViewMut<'_, Self>)>,
        n_threads: usize,
    ) -> Result<Vec<f64>>;
    /// As [`super::eigh`].
    fn eigh(
        a: View<'_, Self>,
        triangle: Triangle,
        vectors: Option<ViewMut<'_, Self>>,
        n_threads: usize,
    ) -> Result<Vec<f64>>;
    /// As [`super::eig`].
    fn eig(
        a: View<'_, Self>,
        vectors: Option<ViewMut<'_, Complex64>>,
        n_threads: usize,
    ) -> Result<Vec<Complex64>>;
}

macro_rules! factorised {
    ($($type:ty)*) => {$(
        impl Factorised for $type {
            fn cholesky(
                out: ViewMut<'_, Self>,
                a: View<'_, Self>,
                triangle: Triangle,
                n_threads: usize,
            ) -> Result<()> {
                super::cholesky(out, a, triangle, n_threads)
            }

            fn lu(
                packed: &mut ViewMut<'_, Self>,
                a: View<'_, Self>,
                n_threads: usize,
            ) -> Result<Vec<usize>> {
                let lu = Lu::new(a, n_threads);
                lu.packed(packed)?;
                Ok(lu.permutation().to_vec())
            }

            fn solve(a: View<'_, Self>, b: &mut ViewMut<'_, Self>, n_threads: usize) -> Result<()> {
                super::solve(a, b, n_threads)
            }

            fn solve_triangular(
                a: View<'_, Self>,
                triangle: Triangle,
                diagonal: Diagonal,
                b: &mut ViewMut<'_, Self>,
                n_threads: usize,
            ) -> Result<()> {
                let t = Triangular { matrix: a, triangle, diagonal };
                super::solve_triangular(t, Side::Left, b, n_threads)
            }

            fn inverse(
                out: &mut ViewMut<'_, Self>,
                a: View<'_, Self>,
                n_threads: usize,
            ) -> Result<()> {
                super::inverse(out, a, n_threads)
            }

            fn sign_and_log(a: View<'_, Self>, n_threads: usize) -> Result<(Self, f64)> {
                Lu::new(a, n_threads).sign_and_log()
            }

            fn qr(
                q: &mut ViewMut<'_, Self>,
                r: &mut ViewMut<'_, Self>,
                a: View<'_, Self>,
                n_threads: usize,
            ) -> Result<()> {
                let qr = Qr::new(a, n_threads);
                qr.upper(r)?;
                qr.orthonormal(q)
            }

            fn svd(
                a: View<'_, Self>,
                vectors: Option<(ViewMut<'_, Self>, ViewMut<'_, Self>)>,
                n_threads: usize,
            ) -> Result<Vec<f64>> {
                let [m, n] = a.shape();
                let wanted = match &vectors {
                    None => Vectors::None,
                    Some((u, vh)) if [u.shape(), vh.shape()] == [[m, m], [n, n]] => Vectors::Full,
                    Some(_) => Vectors::Reduced,
                };
                let svd = Svd::new(a, wanted, n_threads)?;
                if let Some((mut u, mut vh)) = vectors {
                    svd.left(&mut u)?;
                    svd.right_adjoint(&mut vh)?;
                }
                Ok(svd.values().to_vec())
            }

            fn eigh(
                a: View<'_, Self>,
                triangle: Triangle,
                vectors: Option<ViewMut<'_, Self>>,
                n_threads: usize,
            ) -> Result<Vec<f64>> {
                super::eigh(a, triangle, vectors, n_threads)
            }

            fn eig(
                a: View<'_, Self>,
                vectors: Option<ViewMut<'_, Complex64>>,
                n_threads: usize,
            ) -> Result<Vec<Complex64>> {
                super::eig(a, vectors, n_threads)
            }
        }
    )*};
}
factorised! { f64 Complex64 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_to_what_it_names() {
        let a = [4.0, 1.0, 1.0, 3.0];
        let a = View::new(&a, 2, 2);
        let mut out = [0.0; 4];
        f64::matmul(ViewMut::new(&mut out, 2, 2), a, a, Into::Overwrite, 1).expect("fits");
        assert_eq!(out, [17.0, 7.0, 7.0, 10.0]);
        f64::cholesky(ViewMut::new(&mut out, 2, 2), a, Triangle::Lower, 1).expect("positive");
        assert_eq!(out[..2], [2.0, 0.0]);
        let order = f64::lu(&mut ViewMut::new(&mut out, 2, 2), a, 1).expect("fits");
        assert_eq!((order, out[0]), (vec![0, 1], 4.0));
        let mut b = [5.0, 4.0];
        f64::solve(a, &mut ViewMut::new(&mut b, 2, 1), 1).expect("regular");
        assert!(b.iter().all(|x| (x - 1.0).abs() < 1e-15), "{b:?}");
        f64::inverse(&mut ViewMut::new(&mut out, 2, 2), a, 1).expect("regular");
        assert!((out[0] - 3.0 / 11.0).abs() < 1e-15);
        let (sign, log) = f64::sign_and_log(a, 1).expect("square");
        assert!(sign == 1.0 && (log - 11.0_f64.ln()).abs() < 1e-15);
        let values = f64::eigh(a, Triangle::Lower, None, 1).expect("finite");
        let singular = f64::svd(a, None, 1).expect("finite");
        assert!((values[1] - singular[0]).abs() < 1e-14);
        let any = f64::eig(a, None, 1).expect("finite");
        assert!(any.iter().all(|z| z.im == 0.0));
        let (mut q, mut r) = ([0.0; 4], [0.0; 4]);
        f64::qr(&mut ViewMut::new(&mut q, 2, 2), &mut ViewMut::new(&mut r, 2, 2), a, 1)
            .expect("fits");
        assert!((r[0] * q[0] - 4.0).abs() < 1e-14);
        let (triangle, mut b) = (Triangle::Lower, [8.0, 5.0]);
        let b = &mut ViewMut::new(&mut b, 2, 1);
        f64::solve_triangular(a, triangle, Diagonal::Given, b, 1).expect("regular");
        let found = [b.as_view().at(0, 0), b.as_view().at(1, 0)];
        assert!((found[0] - 2.0).abs() + (found[1] - 1.0).abs() < 1e-15, "{found:?}");
    }
}
