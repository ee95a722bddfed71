/* Values to judge by: for float64 in quad precision as a sum of two doubles, for float32 in double
   precision. */
#include <math.h>
#include <quadmath.h>
typedef __float128 quad;
static quad exp2q_(quad x) { return exp2q(x); }
static quad logaddexpq_(quad x, quad y) {
    quad large = x > y ? x : y, small = x > y ? y : x;
    return large + log1pq(expq(small - large));
}
static double logaddexp_(double x, double y) { return (double)logaddexpq_(x, y); }
static void put(quad q, double *high, double *low, long i) {
    high[i] = (double)q;
    low[i] = isfinite(high[i]) ? (double)(q - high[i]) : 0;
}
#define ONE(name, q, d) \
    void ref_##name(const double *x, double *high, double *low, long n) { \
        for (long i = 0; i < n; i++) put(q(x[i]), high, low, i); \
    } \
    void reff_##name(const float *x, double *y, long n) { \
        for (long i = 0; i < n; i++) y[i] = d(x[i]); \
    }
#define TWO(name, q, d) \
    void ref_##name(const double *x, const double *z, double *high, double *low, long n) { \
        for (long i = 0; i < n; i++) put(q(x[i], z[i]), high, low, i); \
    } \
    void reff_##name(const float *x, const float *z, double *y, long n) { \
        for (long i = 0; i < n; i++) y[i] = d(x[i], z[i]); \
    }
#define UNARY(a) ONE(a, a##q, a)
UNARY(exp) ONE(exp2, exp2q_, exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
UNARY(sin) UNARY(cos) UNARY(tan) UNARY(asin) UNARY(acos) UNARY(atan)
UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh) UNARY(acosh) UNARY(atanh)
UNARY(erf) UNARY(erfc) UNARY(cbrt) UNARY(sqrt)
TWO(pow, powq, pow) TWO(atan2, atan2q, atan2) TWO(hypot, hypotq, hypot)
TWO(logaddexp, logaddexpq_, logaddexp_)

/* Complex: real and imaginary parts, each as a sum of two doubles: four doubles per element. */
#define COMPLEX(name, q) \
    void refc_##name(const double *x, double *out, long n) { \
        for (long i = 0; i < n; i++) { \
            __complex128 z; \
            __real__ z = x[2 * i]; \
            __imag__ z = x[2 * i + 1]; \
            z = q(z); \
            put(__real__ z, out, out + 1, 4 * i); \
            put(__imag__ z, out + 2, out + 3, 4 * i); \
        } \
    }
COMPLEX(exp, cexpq) COMPLEX(log, clogq) COMPLEX(sqrt, csqrtq) COMPLEX(sin, csinq)
COMPLEX(cos, ccosq) COMPLEX(tan, ctanq) COMPLEX(sinh, csinhq) COMPLEX(cosh, ccoshq)
COMPLEX(tanh, ctanhq) COMPLEX(asin, casinq) COMPLEX(acos, cacosq) COMPLEX(atan, catanq)
COMPLEX(asinh, casinhq) COMPLEX(acosh, cacoshq) COMPLEX(atanh, catanhq)
void refc_pow(const double *x, const double *y, double *out, long n) {
    for (long i = 0; i < n; i++) {
        __complex128 a, b;
        __real__ a = x[2 * i];
        __imag__ a = x[2 * i + 1];
        __real__ b = y[2 * i];
        __imag__ b = y[2 * i + 1];
        a = cpowq(a, b);
        put(__real__ a, out, out + 1, 4 * i);
        put(__imag__ a, out + 2, out + 3, 4 * i);
    }
}
