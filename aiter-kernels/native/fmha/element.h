// The types that the build names in ELEMENT.
#pragma once
#include "ck_tile.h"

namespace element {
using bf16 = ck_tile::bf16_t;
using f16 = ck_tile::half_t;
} // namespace element
