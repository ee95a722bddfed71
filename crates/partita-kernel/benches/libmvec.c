/* Loops that gcc turns into calls of glibc's libmvec. Compiled with -ffast-math, linked without:
   at link it would set flush-to-zero in the process. */
#include <math.h>
#define ONE(g, T) \
    void mv_##g(const T *restrict x, T *restrict y, long n) { \
        for (long i = 0; i < n; i++) y[i] = g(x[i]); \
    }
#define TWO(g, T) \
    void mv_##g(const T *restrict x, const T *restrict z, T *restrict y, long n) { \
        for (long i = 0; i < n; i++) y[i] = g(x[i], z[i]); \
    }
#define UNARY(a) ONE(a, double) ONE(a##f, float)
#define BINARY(a) TWO(a, double) TWO(a##f, float)
UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
UNARY(sin) UNARY(cos) UNARY(tan) UNARY(asin) UNARY(acos) UNARY(atan)
UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh) UNARY(acosh) UNARY(atanh)
UNARY(erf) UNARY(erfc) UNARY(cbrt) UNARY(sqrt)
BINARY(pow) BINARY(atan2) BINARY(hypot)
