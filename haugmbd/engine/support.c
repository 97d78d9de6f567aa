/* What kernels call beside the C library: a matrix product, which a host may replace by that of its BLAS, and scratch arrays of kernels
 * that still make some (three functions of Numba's run-time). */
#include <stdint.h>
#include <stdlib.h>
#if defined(_WIN32)
#define PUBLIC __declspec(dllexport)
#else
#define PUBLIC __attribute__((visibility("default")))
#endif

typedef struct { int64_t count; void *dtor, *info, *data; int64_t size; } MemInfo;
void *NRT_MemInfo_alloc_aligned(int64_t size, int32_t align)
{
    char *p = malloc(sizeof(MemInfo) + (size_t)size + (size_t)align);
    MemInfo *m = (MemInfo *)p;
    if (!m) return 0;
    m->count = 1; m->dtor = m->info = 0; m->size = size;
    m->data = (void *)(((uintptr_t)(p + sizeof(MemInfo)) + (uintptr_t)align - 1) / (uintptr_t)align * (uintptr_t)align);
    return m;
}
void NRT_incref(MemInfo *m) { if (m) m->count++; }
void NRT_decref(MemInfo *m) { if (m && --m->count == 0) free(m); }

/* C <- alpha op(A) op(B) + beta C, column-major, Fortran's arguments */
typedef void product(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *, const double *, const int *, const double *, double *, const int *);
static void plain(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *A, const int *la, const double *B, const int *lb, const double *beta, double *C, const int *lc)
{
    int TA = *ta == 'T' || *ta == 't', TB = *tb == 'T' || *tb == 't';
    for (int j = 0; j < *n; j++) for (int i = 0; i < *m; i++) C[i + (long)j * *lc] *= *beta;
    for (int j = 0; j < *n; j++) for (int p = 0; p < *k; p++) {
        double b = *alpha * (TB ? B[j + (long)p * *lb] : B[p + (long)j * *lb]);
        for (int i = 0; i < *m; i++) C[i + (long)j * *lc] += (TA ? A[p + (long)i * *la] : A[i + (long)p * *la]) * b;
    }
}
static product *dgemm = plain;
PUBLIC void haug_use_dgemm(void *given) { dgemm = given ? (product *)(uintptr_t)given : plain; }
void haugmbd_dgemm(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *A, const int *la, const double *B, const int *lb, const double *beta, double *C, const int *lc)
{
    dgemm(ta, tb, m, n, k, alpha, A, la, B, lb, beta, C, lc);
}
