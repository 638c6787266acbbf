// Two small kernels, so that the tests read real code objects. The README beside it has the command.
using uint = unsigned;

// What a launcher reads: how many threads a block has.
extern "C" __attribute__((device, used)) const uint scale_block = 64;

extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void scale(float* x, float by, uint n) {
  const uint i = __builtin_amdgcn_workgroup_id_x() * scale_block + __builtin_amdgcn_workitem_id_x();
  if (i < n) x[i] *= by;
}

// Needs LDS.
extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void reverse(float* x) {
  static __attribute__((shared)) float tile[64];
  const uint i = __builtin_amdgcn_workitem_id_x();
  tile[i] = x[i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  x[i] = tile[63 - i];
}
