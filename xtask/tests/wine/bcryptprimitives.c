/* Rust's standard library takes random numbers from here, and Wine before 9 has no such library. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(void *out, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE out, SIZE_T size) { return SystemFunction036(out, (ULONG)size); }
