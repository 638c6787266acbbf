# What CMake's HIP language wants to know of a runtime (hip-lang-config.cmake), for a toolchain that has the runtime's headers and not the runtime: a library
# with the runtime's name and functions that do nothing, to link against. xtask writes it, with HIP_ROOT set.

set(_strata_api "${HIP_ROOT}/include/hip/hip_runtime_api.h")
set(_strata_stub "${CMAKE_CURRENT_LIST_DIR}/../../libamdhip64.so")
if(NOT EXISTS "${_strata_stub}")
  file(STRINGS "${_strata_api}" _strata_lines REGEX "hip[A-Z][A-Za-z0-9_]*\\(")
  set(_strata_names
    __hipPushCallConfiguration __hipPopCallConfiguration __hipRegisterFatBinary __hipUnregisterFatBinary
    __hipRegisterFunction __hipRegisterVar __hipRegisterManagedVar __hipRegisterSurface __hipRegisterTexture)
  foreach(_strata_line IN LISTS _strata_lines)
    if(_strata_line MATCHES "(hip[A-Z][A-Za-z0-9_]*)\\(")
      list(APPEND _strata_names "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES _strata_names)
  list(TRANSFORM _strata_names REPLACE "(.+)" "void \\1(void) {}\n" OUTPUT_VARIABLE _strata_source)
  string(REPLACE ";" "" _strata_source "${_strata_source}")
  file(WRITE "${CMAKE_CURRENT_LIST_DIR}/amdhip64.c" "${_strata_source}")
  execute_process(
    COMMAND "${CMAKE_C_COMPILER}" -shared -nostdlib -fuse-ld=lld "-Wl,-soname,libamdhip64.so.${HIP_MAJOR}"
      -o "${_strata_stub}" "${CMAKE_CURRENT_LIST_DIR}/amdhip64.c"
    COMMAND_ERROR_IS_FATAL ANY)
endif()
if(NOT TARGET hip-lang::amdhip64)
  add_library(hip-lang::amdhip64 SHARED IMPORTED)
  set_target_properties(hip-lang::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_strata_stub}" IMPORTED_SONAME "libamdhip64.so.${HIP_MAJOR}"
    INTERFACE_COMPILE_DEFINITIONS __HIP_PLATFORM_AMD__=1
    INTERFACE_INCLUDE_DIRECTORIES "${HIP_ROOT}/include")
  add_library(hip-lang::device INTERFACE IMPORTED)
  # clang 22 no longer defines these, the HIP headers up to 6.4 use them; every target of this project is wave32.
  set_target_properties(hip-lang::device PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS "$<$<COMPILE_LANGUAGE:HIP>:__AMDGCN_WAVEFRONT_SIZE=32;__AMDGCN_WAVEFRONT_SIZE__=32>"
    INTERFACE_LINK_LIBRARIES hip-lang::amdhip64)
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
