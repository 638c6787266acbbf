// What a host must know of a kernel before it launches it, stored in the code object beside the kernel: the loader reads the symbol
// `<entry>_geometry` and compares it with the catalogue, so a launch never rests on two tables that have drifted apart.
#pragma once

// Mirrored by `aiter_kernels::args::Geometry`; eight little-endian 32-bit words.
struct Geometry {
  unsigned threads;        // work-items of one work-group
  unsigned tile_m;         // rows of the output (queries, tokens) that one work-group makes
  unsigned tile_n;         // columns of one step: keys of attention, elements of a row of an activation
  unsigned head_dim;       // 0 where the operation has none
  unsigned argument_bytes; // the explicit kernel arguments, which are one argument block
  unsigned lds_bytes;      // static LDS
  unsigned reserved[2];
};
static_assert(sizeof(Geometry) == 32);

// `protected` keeps the symbol in the dynamic symbol table, where hipModuleGetGlobal looks; `used` keeps it although nothing reads it.
#define KERNEL_GEOMETRY_(entry, ...)                                                                                 \
  extern "C" __attribute__((device, used, visibility("protected"))) const Geometry entry##_geometry = {__VA_ARGS__}
#define KERNEL_GEOMETRY(entry, ...) KERNEL_GEOMETRY_(entry, __VA_ARGS__)
