/* Says that it runs, and never ends by itself. */
#include <stdio.h>
#include <windows.h>

int main(int count, char **words) {
  FILE *file = fopen(words[count - 1], "wb");
  if (!file) return 1;
  fclose(file);
  Sleep(INFINITE);
  return 0;
}
