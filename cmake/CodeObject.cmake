# Compiles one HIP source to one bare code object for one target: what hipModuleLoadData takes, without a host pass and without a bundle.
#
# xtask gives these variables (docs/architecture.md, "The CMake contract"):
#   STRATA_TARGET       the gfx target, e.g. gfx1201
#   STRATA_HIP_ROOT     the prefix that holds include/hip and share/hip/version
#   STRATA_DEVICE_LIBS  the folder of the device bitcode libraries; empty: kernels must not need any (-nogpulib)
#
# The compiler is the toolchain's clang, as the CXX compiler: CMake's HIP language would add a host pass and link against a runtime.

include_guard(GLOBAL)

foreach(required STRATA_TARGET STRATA_HIP_ROOT)
  if(NOT ${required})
    message(FATAL_ERROR "${required} is not set: configure through `cargo xtask build`, or see docs/architecture.md")
  endif()
endforeach()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "HIP kernels need clang, but CMAKE_CXX_COMPILER is ${CMAKE_CXX_COMPILER_ID}: ${CMAKE_CXX_COMPILER}")
endif()

# clang's driver drops -MD for a device-only compile ("argument unused during compilation: '-MF'"), so the front end is asked directly.
set(CMAKE_DEPFILE_FLAGS_CXX "-Xclang -dependency-file -Xclang <DEP_FILE> -Xclang -MT -Xclang <DEP_TARGET>")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 20)

# Code object v5 loads on every runtime since ROCm 5.6; the generic targets exist only in v6 (LLVM AMDGPU usage, "Code Object V6").
if(STRATA_TARGET MATCHES "generic$")
  set(strata_code_object_version 6)
else()
  set(strata_code_object_version 5)
endif()

set(strata_gpu_options
  -x hip --cuda-device-only --no-gpu-bundle-output
  --offload-arch=${STRATA_TARGET}
  --rocm-path=${STRATA_HIP_ROOT}
  -mcode-object-version=${strata_code_object_version}
  -D__HIP_PLATFORM_AMD__
  # clang 22 no longer defines these, the HIP headers up to 6.4 use them; every target of this project is wave32.
  -D__AMDGCN_WAVEFRONT_SIZE=32 -D__AMDGCN_WAVEFRONT_SIZE__=32
  # Nothing of the build folder gets into the object.
  -fuse-cuid=none -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
  -Wall -Wextra -Werror)
if(STRATA_DEVICE_LIBS)
  list(APPEND strata_gpu_options --rocm-device-lib-path=${STRATA_DEVICE_LIBS})
else()
  list(APPEND strata_gpu_options -nogpulib)
endif()

# add_code_object(<name> SOURCE <file> [DEFINITIONS <d>...] [INCLUDES <dir>...] [SYSTEM_INCLUDES <dir>...] [OPTIONS <o>...])
# Builds <name>.co and installs it to kernels/<target>/<project>/<name>.co.
function(add_code_object name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE" "DEFINITIONS;INCLUDES;SYSTEM_INCLUDES;OPTIONS")
  add_library(${name} OBJECT ${arg_SOURCE})
  set_source_files_properties(${arg_SOURCE} PROPERTIES LANGUAGE CXX)
  target_compile_options(${name} PRIVATE ${strata_gpu_options} ${arg_OPTIONS})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  target_include_directories(${name} PRIVATE ${arg_INCLUDES})
  target_include_directories(${name} SYSTEM PRIVATE ${arg_SYSTEM_INCLUDES})
  # A device-only compile without relocatable device code ends with a linked code object, even under -c.
  install(FILES $<TARGET_OBJECTS:${name}> DESTINATION kernels/${STRATA_TARGET}/${PROJECT_NAME} RENAME ${name}.co)
endfunction()
