// The four functions of AMD's device library that ck_tile's attention needs (facts: the undefined symbols of a link without the library),
// so that a kernel compiles with HIP headers alone. `inline`: nothing of them is left in the code object as a symbol.
#pragma once
#include <hip/hip_runtime.h>

extern "C" {

inline __device__ __attribute__((const)) __SIZE_TYPE__ __ockl_get_group_id(unsigned dimension) {
  return dimension == 0   ? __builtin_amdgcn_workgroup_id_x()
         : dimension == 1 ? __builtin_amdgcn_workgroup_id_y()
                          : __builtin_amdgcn_workgroup_id_z();
}

inline __device__ __attribute__((const)) __SIZE_TYPE__ __ockl_get_local_id(unsigned dimension) {
  return dimension == 0   ? __builtin_amdgcn_workitem_id_x()
         : dimension == 1 ? __builtin_amdgcn_workitem_id_y()
                          : __builtin_amdgcn_workitem_id_z();
}

// The first three words of the implicit arguments (code object v5) are the work-group counts, which the runtime's launch fills in.
inline __device__ __attribute__((const)) __SIZE_TYPE__ __ockl_get_num_groups(unsigned dimension) {
  return ((const unsigned*)__builtin_amdgcn_implicitarg_ptr())[dimension];
}

inline __device__ __attribute__((const)) unsigned __ockl_mul_hi_u32(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}

}
