// The argument blocks of the row kernels. Mirrored by `engine::kernels::rows`.
#pragma once

// out[i] = a[i] + b[i % period]. Grid: (count / 1024, 1, 1).
struct AddArgs {
  float* out;
  const float* a;
  const float* b;
  unsigned count;
  unsigned period;
};
static_assert(sizeof(AddArgs) == 32);

// out[i] = the nearest number of the other type. Grid: (count / 1024, 1, 1).
struct ConvertArgs {
  void* out;
  const void* in;
  unsigned count;
  unsigned reserved;
};
static_assert(sizeof(ConvertArgs) == 24);

// out[n, :] = in[rows[n], :]. Grid: (n, 1, 1).
struct GatherArgs {
  float* out;
  const float* in;
  const unsigned* rows;
  unsigned columns;
  unsigned reserved;
};
static_assert(sizeof(GatherArgs) == 32);

// The `used` best experts of each token, the best first, and the softmax of all scores at them, made to sum to 1. Grid: (tokens, 1, 1).
struct RouteArgs {
  int* experts;   // [token, used]
  float* weights; // [token, used]
  const float* scores;
  unsigned count; // experts, 1,024 at most
  unsigned used;
};
static_assert(sizeof(RouteArgs) == 32);

// out[token, :] = the sum over k of weights[token, k] * y[token, k, :]. Grid: (columns / 256, tokens, 1).
struct MixArgs {
  float* out;
  const float* y;
  const float* weights;
  unsigned columns;
  unsigned used;
};
static_assert(sizeof(MixArgs) == 32);

// Writes a word that the host waits for: *bell = *value, after everything that was queued before. Grid: (1, 1, 1).
struct RingArgs {
  unsigned* bell;
  const unsigned* value;
};
static_assert(sizeof(RingArgs) == 16);

// Waits until *go is `value`, looks `tries` times at most, and writes `value` to *done, or ~value when it did not come. Grid: (1, 1, 1).
struct AnswerArgs {
  const unsigned* go;
  unsigned* done;
  unsigned value;
  unsigned tries;
};
static_assert(sizeof(AnswerArgs) == 24);
