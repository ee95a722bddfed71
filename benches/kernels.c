/* What a C programmer writes, for benches/kernels.py: one loop each, two threads at most.
   Compiled with -ffast-math, so that gcc calls libmvec; linked without, see there. */
#include <immintrin.h>
#include <math.h>
#include <omp.h>

void threads(int n) { omp_set_num_threads(n); }

/* The two expressions of eight operations. */
void sqrt8(double *restrict out, const double *restrict a, const double *restrict b,
           const double *restrict c, long n) {
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) out[i] = sqrt(a[i] * a[i] + b[i] * b[i]) * 0.5 + (c[i] - a[i]) * b[i];
}

void poly8(double *restrict out, const double *restrict a, const double *restrict b,
           const double *restrict c, long n) {
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++)
        out[i] = ((a[i] * b[i] + c[i]) * a[i] - 0.25) * (b[i] * c[i] + 3.0) + a[i];
}

/* Streaming stores. */
void triad(double *restrict a, const double *restrict b, const double *restrict c, long n) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i += 4) {
        __m256d grown = _mm256_fmadd_pd(_mm256_set1_pd(3.0), _mm256_load_pd(c + i), _mm256_load_pd(b + i));
        _mm256_stream_pd(a + i, grown);
    }
    _mm_sfence();
}

static void jacobi_edge(const double *b, double *a, long ld, long from, long to) {
    for (long j = from; j < to; j++) a[j] = .25 * (b[j - ld] + b[j + ld] + b[j - 1] + b[j + 1]);
}

/* A plain loop over rows with streaming stores. */
void jacobi(double *a, const double *b, long n) {
#pragma omp parallel for schedule(static)
    for (long i = 1; i < n - 1; i++) {
        const double *row = b + i * n;
        double *out = a + i * n;
        long j = 1;
        while ((size_t)(out + j) & 31) j++;
        jacobi_edge(row, out, n, 1, j);
        for (; j + 4 <= n - 1; j += 4) {
            const double *x = row + j;
            __m256d ns = _mm256_add_pd(_mm256_loadu_pd(x - n), _mm256_loadu_pd(x + n));
            __m256d we = _mm256_add_pd(_mm256_loadu_pd(x - 1), _mm256_loadu_pd(x + 1));
            _mm256_stream_pd(out + j, _mm256_mul_pd(_mm256_set1_pd(.25), _mm256_add_pd(ns, we)));
        }
        jacobi_edge(row, out, n, j, n - 1);
    }
    _mm_sfence();
}

/* libmvec's vector functions, chosen by the compiler. */
void black_scholes(double *restrict call, double *restrict put, const double *restrict s,
                   const double *restrict x, const double *restrict t, long n) {
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) {
        double spread = 0.2 * sqrt(t[i]);
        double d1 = (log(s[i] / x[i]) + 0.12 * t[i]) / spread;
        double d2 = d1 - spread;
        double n1 = 0.5 + 0.5 * erf(d1 * 0.70710678118654752440);
        double n2 = 0.5 + 0.5 * erf(d2 * 0.70710678118654752440);
        double strike = x[i] * exp(-0.1 * t[i]);
        call[i] = s[i] * n1 - strike * n2;
        put[i] = strike * (1.0 - n2) - s[i] * (1.0 - n1);
    }
}

/* Four read streams per thread; the sum keeps the compiler from leaving the loads out. */
double read4(const double *x, long n) {
    double total = 0;
#pragma omp parallel reduction(+ : total)
    {
        long threads = omp_get_num_threads(), me = omp_get_thread_num();
        long each = n / threads / 4 & ~15L;
        const double *p = x + me * 4 * each;
        __m256d s[8];
        for (int k = 0; k < 8; k++) s[k] = _mm256_setzero_pd();
        for (long i = 0; i < each; i += 8)
            for (int k = 0; k < 4; k++) {
                s[2 * k] = _mm256_add_pd(s[2 * k], _mm256_loadu_pd(p + k * each + i));
                s[2 * k + 1] = _mm256_add_pd(s[2 * k + 1], _mm256_loadu_pd(p + k * each + i + 4));
            }
        double lanes[4];
        for (int k = 0; k < 8; k++) {
            _mm256_storeu_pd(lanes, s[k]);
            total += lanes[0] + lanes[1] + lanes[2] + lanes[3];
        }
    }
    return total;
}
