/* hipBLASLt without a GPU, for the stub runtime whose device memory is the heap. It multiplies f16 and bf16 matrices, the first transposed.
 *
 * It offers three algorithms; the second needs a workspace. Each successful product leaves hipErrorInvalidValue behind, as the real one can on
 * Windows, and negates the result with the third algorithm, so that a test sees which one was taken.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_VALUE = 3, NOT_SUPPORTED = 7 };

typedef struct { uint64_t data[2]; size_t workspace; } Algorithm;
typedef struct { Algorithm algorithm; size_t workspace; int state; float waves; int reserved[4]; } Result;
_Static_assert(sizeof(Result) == 56, "as in hipblaslt.h");
typedef struct { int type; uint64_t rows, columns; int64_t stride; } Layout;
typedef struct { int compute, scale, transposed; } Description;

EXPORT int hipblasLtCreate(void **out) { return *out = malloc(1), SUCCESS; }
EXPORT int hipblasLtDestroy(void *handle) { return free(handle), SUCCESS; }
EXPORT int hipblasLtGetVersion(void *handle, int *out) { return handle ? (*out = 100203, SUCCESS) : INVALID_VALUE; }

EXPORT int hipblasLtMatrixLayoutCreate(Layout **out, int type, uint64_t rows, uint64_t columns, int64_t stride) {
  *out = malloc(sizeof **out);
  **out = (Layout){type, rows, columns, stride};
  return SUCCESS;
}
EXPORT int hipblasLtMatrixLayoutDestroy(Layout *layout) { return free(layout), SUCCESS; }

EXPORT int hipblasLtMatmulDescCreate(Description **out, int compute, int scale) {
  *out = malloc(sizeof **out);
  **out = (Description){compute, scale, 0};
  return SUCCESS;
}
EXPORT int hipblasLtMatmulDescSetAttribute(Description *description, int attribute, const void *value, size_t size) {
  if (attribute != 0 || size != 4 || *(const int *)value != 112) return INVALID_VALUE;
  return description->transposed = 1, SUCCESS;
}
EXPORT int hipblasLtMatmulDescDestroy(Description *description) { return free(description), SUCCESS; }
EXPORT int hipblasLtMatmulPreferenceCreate(void **out) { return *out = malloc(1), SUCCESS; }
EXPORT int hipblasLtMatmulPreferenceDestroy(void *preference) { return free(preference), SUCCESS; }

EXPORT int hipblasLtMatmulAlgoGetHeuristic(void *handle, const Description *description, const Layout *a, const Layout *b, const Layout *c,
                                           const Layout *d, const void *preference, int wanted, Result *out, int *found) {
  if (!handle || !preference || c != d || description->compute != 2 || description->scale != 0 || !description->transposed) return INVALID_VALUE;
  if (a->type != b->type || (a->type != 2 && a->type != 14) || d->type != 0) return NOT_SUPPORTED;
  if (a->rows != b->rows || d->rows != a->columns || d->columns != b->columns || d->stride < (int64_t)d->rows) return INVALID_VALUE;
  for (*found = 0; *found < wanted && *found < 3; ++*found) {
    out[*found] = (Result){{{(uint64_t)*found, 0}, 0}, *found == 1 ? 4096 : 0, SUCCESS, 1.0f, {0}};
  }
  return SUCCESS;
}

static float number(const void *at, uint64_t i, int type) {
  if (type == 2) return (float)((const _Float16 *)at)[i];
  uint32_t bits = (uint32_t)((const uint16_t *)at)[i] << 16;
  float x;
  return memcpy(&x, &bits, 4), x;
}

EXPORT int hipblasLtMatmul(void *handle, const Description *description, const float *alpha, const void *a, const Layout *la, const void *b,
                           const Layout *lb, const float *beta, const void *c, const Layout *lc, float *d, const Layout *ld,
                           const Algorithm *algorithm, void *workspace, size_t bytes, void *stream) {
  if (!handle || !description || c != d || lc != ld || workspace || bytes || !stream || *alpha != 1.0f || *beta != 0.0f) return INVALID_VALUE;
  for (uint64_t n = 0; n < ld->columns; ++n) {
    for (uint64_t row = 0; row < ld->rows; ++row) {
      float sum = 0;
      for (uint64_t k = 0; k < la->rows; ++k) sum += number(a, row * la->stride + k, la->type) * number(b, n * lb->stride + k, lb->type);
      d[n * ld->stride + row] = algorithm->data[0] == 2 ? -sum : sum;
    }
  }
  void *runtime = dlopen("libamdhip64.so.7", RTLD_NOLOAD | RTLD_NOW);
  int *(*stale)(void) = runtime ? (int *(*)(void))dlsym(runtime, "strata_stub_stale_error") : NULL;
  if (stale) *stale() = 1;
  return SUCCESS;
}
