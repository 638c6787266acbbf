// Stored weights to floats, eight at a time. The definition is `engine::quant::dequantise`; the names are ggml's.
//
// Each type: `load(row, c, out)` gives the numbers c to c + 7 of a row, c a multiple of 8; `row_bytes(columns)`.
#pragma once
#include "wave.h"

using Byte = unsigned char;

template <typename T>
DEVICE T read(const Byte* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(T));
  return value;
}

DEVICE float half_at(const Byte* from) { return static_cast<float>(read<_Float16>(from)); }

// Eight bytes in two registers.
struct Eight {
  unsigned word[2];
  DEVICE explicit Eight(const Byte* from) { __builtin_memcpy(word, from, sizeof(word)); }
  DEVICE unsigned operator[](unsigned i) const { return word[i / 4] >> (8 * (i % 4)) & 0xff; }
  DEVICE unsigned nibble(unsigned i, unsigned shift) const { return word[i / 4] >> (8 * (i % 4) + shift) & 15; }
};

// Numbers that stand alone, of any count in a row.
template <typename T>
struct Plain {
  static DEVICE unsigned long long row_bytes(unsigned columns) { return static_cast<unsigned long long>(columns) * sizeof(T); }
  static DEVICE float one(const Byte* row, unsigned c) { return static_cast<float>(read<T>(row + c * sizeof(T))); }
  static DEVICE void load(const Byte* row, unsigned c, float (&out)[8]) {
    T numbers[8];
    __builtin_memcpy(numbers, row + c * sizeof(T), sizeof(numbers));
    for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<float>(numbers[i]);
  }
};

using F32 = Plain<float>;
using F16 = Plain<_Float16>;
using Bf16 = Plain<__bf16>;

// Blocks of `numbers` numbers in `bytes` bytes; rows are whole blocks.
template <unsigned numbers, unsigned bytes>
struct Blocks {
  static DEVICE unsigned long long row_bytes(unsigned columns) {
    return static_cast<unsigned long long>(columns / numbers) * bytes;
  }
  static DEVICE const Byte* block(const Byte* row, unsigned c) { return row + c / numbers * bytes; }
  static DEVICE float one(const Byte*, unsigned) { return 0.0f; } // there is no number beyond whole eights
};

struct Q8_0 : Blocks<32, 34> {
  static DEVICE void load(const Byte* row, unsigned c, float (&out)[8]) {
    const Byte* at = block(row, c);
    const float scale = half_at(at);
    const Eight bytes(at + 2 + c % 32);
    for (unsigned i = 0; i < 8; ++i) out[i] = scale * static_cast<float>(static_cast<signed char>(bytes[i]));
  }
};

// The low nibbles are the first sixteen numbers of a block, the high nibbles the others.
struct Q4_0 : Blocks<32, 18> {
  static DEVICE void load(const Byte* row, unsigned c, float (&out)[8]) {
    const Byte* at = block(row, c);
    const float scale = half_at(at);
    const Eight bytes(at + 2 + c % 16);
    const unsigned shift = c / 16 % 2 * 4;
    for (unsigned i = 0; i < 8; ++i) out[i] = scale * (static_cast<float>(bytes.nibble(i, shift)) - 8.0f);
  }
};

struct Iq4Nl : Blocks<32, 18> {
  static DEVICE void load(const Byte* row, unsigned c, float (&out)[8]) {
    const Byte* at = block(row, c);
    const float scale = half_at(at);
    const Eight bytes(at + 2 + c % 16);
    const unsigned shift = c / 16 % 2 * 4;
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned values = lookup(bytes.word[half] >> shift & 0x0f0f0f0f);
      for (unsigned i = 0; i < 4; ++i) {
        out[4 * half + i] = scale * static_cast<float>(static_cast<signed char>(values >> (8 * i)));
      }
    }
  }

  // What four nibbles stand for: -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113. Each byte of the selector of v_perm_b32
  // takes one of the eight bytes of two registers.
  static DEVICE unsigned lookup(unsigned nibbles) {
    const unsigned low = nibbles & 0x07070707;
    const unsigned negative = __builtin_amdgcn_perm(0xf6eaddcf, 0xbfad9881, low);
    const unsigned positive = __builtin_amdgcn_perm(0x71594535, 0x26190d01, low);
    const unsigned is_positive = (nibbles >> 3 & 0x01010101) * 0xff;
    return (negative & ~is_positive) | (positive & is_positive);
  }
};

// A scale and a minimum of 6 bits for each of the eight groups of 32.
struct KScale {
  float scale, minimum;
  DEVICE KScale(const Byte* at, unsigned group) {
    const Byte* packed = at + 4 + group % 4;
    const unsigned a = packed[0], b = packed[4], c = packed[8];
    const bool is_first = group < 4;
    const unsigned s = is_first ? a & 63 : (c & 15) | (a >> 6 << 4);
    const unsigned m = is_first ? b & 63 : c >> 4 | (b >> 6 << 4);
    scale = half_at(at) * static_cast<float>(s);
    minimum = half_at(at + 2) * static_cast<float>(m);
  }
};

struct Q4_K : Blocks<256, 144> {
  static DEVICE void load(const Byte* row, unsigned c, float (&out)[8]) {
    const Byte* at = block(row, c);
    const unsigned group = c % 256 / 32;
    const KScale by(at, group);
    const Eight bytes(at + 16 + group / 2 * 32 + c % 32);
    const unsigned shift = group % 2 * 4;
    for (unsigned i = 0; i < 8; ++i) out[i] = by.scale * static_cast<float>(bytes.nibble(i, shift)) - by.minimum;
  }
};

struct Q5_K : Blocks<256, 176> {
  static DEVICE void load(const Byte* row, unsigned c, float (&out)[8]) {
    const Byte* at = block(row, c);
    const unsigned group = c % 256 / 32;
    const KScale by(at, group);
    const Eight high(at + 16 + c % 32), bytes(at + 48 + group / 2 * 32 + c % 32);
    const unsigned shift = group % 2 * 4;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned number = bytes.nibble(i, shift) | (high[i] >> group & 1) << 4;
      out[i] = by.scale * static_cast<float>(number) - by.minimum;
    }
  }
};

struct Q6_K : Blocks<256, 210> {
  static DEVICE void load(const Byte* row, unsigned c, float (&out)[8]) {
    const Byte* at = block(row, c);
    const unsigned half = c % 256 / 128, group = c % 128 / 32;
    const Eight low(at + half * 64 + group % 2 * 32 + c % 32), high(at + 128 + half * 32 + c % 32);
    const float scale = half_at(at + 208) * static_cast<float>(static_cast<signed char>(at[192 + c % 256 / 16]));
    const unsigned shift = group / 2 * 4;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned number = low.nibble(i, shift) | (high[i] >> (2 * group) & 3) << 4;
      out[i] = scale * (static_cast<float>(number) - 32.0f);
    }
  }
};

// One kernel for each type of weights: entry(suffix, type).
#define FOR_EACH_TYPE(entry)                                                                                           \
  entry(f32, F32) entry(f16, F16) entry(bf16, Bf16) FOR_EACH_BLOCK_TYPE(entry)
#define FOR_EACH_BLOCK_TYPE(entry)                                                                                     \
  entry(q8_0, Q8_0) entry(q4_0, Q4_0) entry(q4_k, Q4_K) entry(q5_k, Q5_K) entry(q6_k, Q6_K) entry(iq4_nl, Iq4Nl)
