/* Prints what AMD's hipInfo prints of two devices, if it was started where its runtime lies. */
#include <stdio.h>
#include <windows.h>

static void device(int number, const char *name, const char *arch, double gib, int integrated) {
  printf("--------------------------------------------------------------------------------\n");
  printf("device#                           %d\n", number);
  printf("Name:                             %s\n", name);
  printf("pciBusID:                         %d\n", number + 3);
  printf("multiProcessorCount:              32\n");
  printf("totalGlobalMem:                   %.2f GB\n", gib);
  printf("isIntegrated:                     %d\n", integrated);
  printf("gcnArchName:                      %s\n", arch);
  printf("peers:                            \nnon-peers:                        device#%d \n\n", 1 - number);
  printf("memInfo.total:                    %.2f GB\n\n", gib);
}

int main(void) {
  if (GetFileAttributesA("amdhip64_7.dll") == INVALID_FILE_ATTRIBUTES) return puts("No devices found."), 1;
  device(1, "AMD Radeon RX 9070 XT", "gfx1201", 15.92, 0);
  device(0, "AMD Radeon(TM) Graphics", "gfx1036", 12.20, 1);
  return 0;
}
