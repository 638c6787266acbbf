/* A HIP runtime without a GPU: devices by environment variable, memory from the heap, and the kernels that the tests start, computed by the CPU.
 *
 * STRATA_STUB_DEVICES    devices separated by `;`, each `gcnArchName|name|GiB|multiprocessors|integrated|wave size`; empty: no device
 * STRATA_STUB_FREE_MIB   free memory of every device; default: all of it
 * STRATA_STUB_FLAKY      set: the first memory query of the process fails, as some drivers do
 * STRATA_STUB_WRONG      set: kernels compute wrong numbers
 * STRATA_STUB_RECORDING  set: every stream is recording a graph
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __attribute__((dllexport))
/* Windows' C library has none. */
static const void *memmem(const void *in, size_t size, const void *text, size_t length) {
  const char *start = in;
  for (size_t at = 0; at + length <= size; at++)
    if (!memcmp(start + at, text, length)) return start + at;
  return NULL;
}
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  NO_BINARY_FOR_GPU = 209,
  NOT_FOUND = 500,
};

typedef struct {
  char arch[64], name[128];
  size_t memory;
  int multiprocessors, integrated, wave_size;
} Device;

typedef struct {
  size_t size;
  char image[];
} Module;

typedef struct Function {
  char name[64];
  struct Function *next;
} Function;

static int current;
static size_t in_use;
static Function *functions;

static int devices(Device out[8]) {
  const char *text = getenv("STRATA_STUB_DEVICES");
  if (!text) text = "gfx1201|AMD Radeon RX 9070 XT|16|32|0|32";
  int count = 0;
  while (*text && count < 8) {
    Device *d = &out[count++];
    double gib = 0;
    sscanf(text, "%63[^|]|%127[^|]|%lf|%d|%d|%d", d->arch, d->name, &gib, &d->multiprocessors, &d->integrated, &d->wave_size);
    d->memory = (size_t)(gib * 1073741824.0);
    const char *end = strchr(text, ';');
    text = end ? end + 1 : text + strlen(text);
  }
  return count;
}

static int device(int ordinal, Device *out) {
  Device all[8];
  memset(all, 0, sizeof all);
  if (ordinal < 0 || ordinal >= devices(all)) return INVALID_DEVICE;
  *out = all[ordinal];
  return SUCCESS;
}

EXPORT const char *hipGetErrorName(int code) {
  switch (code) {
    case SUCCESS: return "hipSuccess";
    case INVALID_VALUE: return "hipErrorInvalidValue";
    case OUT_OF_MEMORY: return "hipErrorOutOfMemory";
    case NO_DEVICE: return "hipErrorNoDevice";
    case INVALID_DEVICE: return "hipErrorInvalidDevice";
    case INVALID_IMAGE: return "hipErrorInvalidImage";
    case NO_BINARY_FOR_GPU: return "hipErrorNoBinaryForGpu";
    case NOT_FOUND: return "hipErrorNotFound";
    default: return "hipErrorUnknown";
  }
}

EXPORT const char *hipGetErrorString(int code) { return code == OUT_OF_MEMORY ? "out of memory" : "said by the stub"; }
EXPORT int hipDriverGetVersion(int *out) { return *out = 70051831, SUCCESS; }
EXPORT int hipRuntimeGetVersion(int *out) { return *out = 70051831, SUCCESS; }

EXPORT int hipGetDeviceCount(int *out) {
  Device all[8];
  *out = devices(all);
  return *out ? SUCCESS : NO_DEVICE;
}

EXPORT int hipSetDevice(int ordinal) {
  Device d;
  int code = device(ordinal, &d);
  if (!code) current = ordinal;
  return code;
}

EXPORT int hipGetDevice(int *out) { return *out = current, SUCCESS; }

EXPORT int hipDeviceGetName(char *out, int len, int ordinal) {
  Device d;
  int code = device(ordinal, &d);
  if (!code) snprintf(out, len, "%s", d.name);
  return code;
}

EXPORT int hipDeviceTotalMem(size_t *out, int ordinal) {
  Device d;
  int code = device(ordinal, &d);
  if (!code) *out = d.memory;
  return code;
}

EXPORT int hipDeviceGetAttribute(int *out, int attribute, int ordinal) {
  Device d;
  int code = device(ordinal, &d);
  if (code) return code;
  switch (attribute) {
    case 16: *out = d.integrated; return SUCCESS;
    case 63: *out = d.multiprocessors; return SUCCESS;
    case 87: *out = d.wave_size; return SUCCESS;
    default: return INVALID_VALUE;
  }
}

EXPORT int hipDeviceGetPCIBusId(char *out, int len, int ordinal) {
  Device d;
  int code = device(ordinal, &d);
  if (!code) snprintf(out, len, "0000:%02x:00.0", ordinal + 3);
  return code;
}

/* The real structure has 1472 bytes, begins with the name, and holds gcnArchName at 1160. */
EXPORT int hipGetDevicePropertiesR0600(void *out, int ordinal) {
  Device d;
  int code = device(ordinal, &d);
  if (code) return code;
  memset(out, 0, 1472);
  strcpy(out, d.name);
  memset((char *)out + 256, 0x11, 1160 - 256 - 4);
  strcpy((char *)out + 1160, d.arch);
  return SUCCESS;
}

static size_t total_memory(void) {
  Device d;
  return device(current, &d) ? 0 : d.memory;
}

static size_t free_memory(void) {
  const char *text = getenv("STRATA_STUB_FREE_MIB");
  size_t free = text ? (size_t)atoll(text) << 20 : total_memory();
  return free > in_use ? free - in_use : 0;
}

EXPORT int hipMemGetInfo(size_t *free, size_t *total) {
  static int queries;
  if (getenv("STRATA_STUB_FLAKY") && queries++ == 0) return INVALID_VALUE;
  *free = free_memory();
  *total = total_memory();
  return SUCCESS;
}

/* Each allocation is preceded by its size. */
EXPORT int hipMalloc(void **out, size_t size) {
  if (size > free_memory()) return OUT_OF_MEMORY;
  size_t *block = malloc(size + 256);
  if (!block) return OUT_OF_MEMORY;
  *block = size;
  in_use += size;
  *out = (char *)block + 256;
  return SUCCESS;
}

EXPORT int hipFree(void *pointer) {
  if (!pointer) return SUCCESS;
  size_t *block = (size_t *)((char *)pointer - 256);
  in_use -= *block;
  free(block);
  return SUCCESS;
}

EXPORT int hipMemcpy(void *to, const void *from, size_t size, int kind) {
  if (kind != 1 && kind != 2) return INVALID_VALUE;
  memcpy(to, from, size);
  return SUCCESS;
}

EXPORT int hipMemset(void *to, int value, size_t size) { return memset(to, value, size), SUCCESS; }

static int contains(const Module *m, const char *text) { return memmem(m->image, m->size, text, strlen(text)) != NULL; }

/* Takes a code object whose metadata names the device's target, or the generic target of its family. */
EXPORT int hipModuleLoadData(Module **out, const void *image) {
  const unsigned char *bytes = image;
  if (memcmp(bytes, "\177ELF\2\1", 6)) return INVALID_IMAGE;
  uint64_t sections;
  uint16_t entry, count;
  memcpy(&sections, bytes + 40, 8);
  memcpy(&entry, bytes + 58, 2);
  memcpy(&count, bytes + 60, 2);
  size_t size = sections + (size_t)entry * count;
  Module *m = malloc(sizeof *m + size);
  m->size = size;
  memcpy(m->image, image, size);
  Device d;
  device(current, &d);
  d.arch[strcspn(d.arch, ":")] = 0;
  char exact[128], generic[128];
  snprintf(exact, sizeof exact, "amdhsa--%s", d.arch);
  const char *family = !strncmp(d.arch, "gfx103", 6) ? "10-3" : !strncmp(d.arch, "gfx12", 5) ? "12" : "11";
  snprintf(generic, sizeof generic, "amdhsa--gfx%s-generic", family);
  if (!contains(m, exact) && !contains(m, generic)) return free(m), NO_BINARY_FOR_GPU;
  *out = m;
  return SUCCESS;
}

EXPORT int hipModuleUnload(Module *m) { return free(m), SUCCESS; }

EXPORT int hipModuleGetFunction(Function **out, const Module *m, const char *name) {
  char descriptor[80];
  snprintf(descriptor, sizeof descriptor, "%.63s.kd", name);
  if (!*name || !contains(m, descriptor)) return NOT_FOUND;
  Function *f = calloc(1, sizeof *f);
  snprintf(f->name, sizeof f->name, "%s", name);
  f->next = functions;
  functions = f;
  *out = f;
  return SUCCESS;
}

static float wrong(float x) { return getenv("STRATA_STUB_WRONG") ? x * 1.5f + 1.0f : x; }

/* crates/code-object/tests/data/scale.hip */
static void scale(const void *arguments, unsigned threads) {
  float *x, by;
  uint32_t n;
  memcpy(&x, arguments, 8);
  memcpy(&by, (const char *)arguments + 8, 4);
  memcpy(&n, (const char *)arguments + 12, 4);
  for (uint32_t i = 0; i < n && i < threads; ++i) x[i] = wrong(x[i] * by);
}

typedef enum { F32, F16, BF16 } Type;

static float load(const void *p, size_t i, Type t) {
  if (t == F32) return ((const float *)p)[i];
  if (t == F16) return (float)((const _Float16 *)p)[i];
  uint32_t bits = (uint32_t)((const uint16_t *)p)[i] << 16;
  float x;
  return memcpy(&x, &bits, 4), x;
}

static void store(void *p, size_t i, Type t, float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (t == F32) ((float *)p)[i] = x;
  else if (t == F16) ((_Float16 *)p)[i] = (_Float16)x;
  else ((uint16_t *)p)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* engine/native/rms_norm.hip */
static void rms_norm(const void *arguments, unsigned rows, Type t) {
  struct { void *out; const void *in, *weight; uint32_t columns; float epsilon; } a;
  memcpy(&a, arguments, sizeof a);
  for (size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (size_t i = 0; i < a.columns; ++i) sum += pow(load(a.in, row * a.columns + i, t), 2);
    float by = (float)(1 / sqrt(sum / a.columns + a.epsilon));
    for (size_t i = 0; i < a.columns; ++i) {
      size_t at = row * a.columns + i;
      store(a.out, at, t, wrong(load(a.in, at, t) * by * load(a.weight, i, t)));
    }
  }
}

/* engine/native/matrix.hip, of f16 */
static void multiply_matrix(const void *arguments) {
  struct { float *out; const void *weights, *x; uint32_t columns, rows, count, out_stride; } a;
  memcpy(&a, arguments, sizeof a);
  for (size_t n = 0; n < a.count; ++n) {
    for (size_t row = 0; row < a.rows; ++row) {
      float sum = 0;
      for (size_t k = 0; k < a.columns; ++k) sum += load(a.weights, row * a.columns + k, F16) * load(a.x, n * a.columns + k, F16);
      a.out[n * a.out_stride + row] = wrong(sum);
    }
  }
}

/* engine/native/rows.hip: it runs while the host goes on. */
typedef struct { uint32_t *go, *done, value, tries; } Answer;

static void *answer(void *argument) {
  Answer *a = argument;
  uint32_t seen = ~a->value;
  for (uint32_t i = 0; i < a->tries && seen != a->value; ++i) seen = __atomic_load_n(a->go, __ATOMIC_ACQUIRE);
  __atomic_store_n(a->done, seen == a->value && !getenv("STRATA_STUB_WRONG") ? a->value : ~a->value, __ATOMIC_RELEASE);
  return NULL;
}

static pthread_t running;
static int is_running;

static int start_answer(const void *arguments) {
  static Answer a;
  memcpy(&a, arguments, sizeof a);
  is_running = !pthread_create(&running, NULL, answer, &a);
  return is_running ? SUCCESS : INVALID_VALUE;
}

/* STRATA_STUB_LAUNCHES names a file: each launch is one line of it, and nothing is computed. */
static int logged(const Function *f, const unsigned grid[3], unsigned threads, const void *stream, const unsigned char *arguments, size_t size) {
  const char *path = getenv("STRATA_STUB_LAUNCHES");
  FILE *log = path ? fopen(path, "a") : NULL;
  if (!log) return 0;
  fprintf(log, "%s %u %u %u %u %llu ", f->name, grid[0], grid[1], grid[2], threads, (unsigned long long)(uintptr_t)stream);
  for (size_t i = 0; i < size; ++i) fprintf(log, "%02x", arguments[i]);
  fputc('\n', log);
  return !fclose(log);
}

EXPORT int hipModuleLaunchKernel(const Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                 unsigned lds, void *stream, void **parameters, void **extra) {
  const unsigned grid[3] = {gx, gy, gz};
  if (extra && (size_t)extra[0] == 1 && logged(f, grid, bx, stream, extra[1], *(size_t *)extra[3])) return SUCCESS;
  if (parameters || !extra || !gx || !gy || gz != 1 || !bx || bx > 1024 || by != 1 || bz != 1 || lds > 65536) return INVALID_VALUE;
  if ((size_t)extra[0] != 1 || (size_t)extra[2] != 2 || (size_t)extra[4] != 3) return INVALID_VALUE;
  const void *arguments = extra[1];
  size_t size = *(size_t *)extra[3];
  if (!strcmp(f->name, "scale") && size == 16) return scale(arguments, gx * bx), SUCCESS;
  if (!strcmp(f->name, "rms_norm_f32") && size == 32) return rms_norm(arguments, gx, F32), SUCCESS;
  if (!strcmp(f->name, "rms_norm_f16") && size == 32) return rms_norm(arguments, gx, F16), SUCCESS;
  if (!strcmp(f->name, "rms_norm_bf16") && size == 32) return rms_norm(arguments, gx, BF16), SUCCESS;
  if (!strcmp(f->name, "multiply_matrix_f16") && size == 40) return multiply_matrix(arguments), SUCCESS;
  if (!strcmp(f->name, "answer_u32") && size == 24) return start_answer(arguments);
  return INVALID_VALUE;
}

EXPORT int hipStreamCreate(void **out) { return *out = malloc(1), SUCCESS; }
EXPORT int hipStreamDestroy(void *stream) { return free(stream), SUCCESS; }
EXPORT int hipStreamSynchronize(void *stream) {
  if (is_running) pthread_join(running, NULL);
  is_running = 0;
  return stream ? SUCCESS : INVALID_VALUE;
}
EXPORT int hipStreamQuery(void *stream) { return !stream ? INVALID_VALUE : is_running ? 600 : SUCCESS; }
EXPORT int hipStreamIsCapturing(void *stream, int *out) { return (void)stream, *out = !!getenv("STRATA_STUB_RECORDING"), SUCCESS; }
static int stale_error;
/* What hipBLASLt's stub leaves behind, as the real one does. */
EXPORT int *strata_stub_stale_error(void) { return &stale_error; }
EXPORT int hipGetLastError(void) {
  int code = stale_error;
  stale_error = SUCCESS;
  return code;
}

EXPORT int hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
  Device d;
  if (device(to_device, &d) || device(from_device, &d)) return INVALID_DEVICE;
  return memcpy(to, from, size), SUCCESS;
}

/* The host's memory is the device's. */
EXPORT int hipHostMalloc(void **out, size_t size, unsigned flags) { return flags == 2 && (*out = malloc(size)) ? SUCCESS : INVALID_VALUE; }
EXPORT int hipHostFree(void *pointer) { return free(pointer), SUCCESS; }
EXPORT int hipHostGetDevicePointer(void **out, void *host, unsigned flags) { return flags ? INVALID_VALUE : (*out = host, SUCCESS); }
