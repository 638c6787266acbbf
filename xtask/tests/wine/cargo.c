/* A stand-in for cargo.exe, which no one has for Wine: it tells what the real one said of the workspace on Linux, and hands over programs that the real one
 * cross-built there. Beside it lie `metadata.json` and `programs\`. */
#include <stdio.h>
#include <string.h>
#include <windows.h>

static char self[MAX_PATH];

static int print(const char *name) {
  char path[MAX_PATH + 32], block[65536];
  snprintf(path, sizeof path, "%s\\%s", self, name);
  FILE *file = fopen(path, "rb");
  if (!file) return 1;
  for (size_t size; (size = fread(block, 1, sizeof block, file)) > 0;) fwrite(block, 1, size, stdout);
  return fclose(file);
}

static int hand_over(const char *target_dir, const char *triple, const char *profile) {
  char from[MAX_PATH + 32], to[2 * MAX_PATH];
  const char *parts[] = {"", triple, profile};
  strcpy(to, target_dir);
  for (int i = 0; i < 3; i++) {
    if (*parts[i]) strcat(strcat(to, "\\"), parts[i]);
    CreateDirectoryA(to, NULL);
  }
  snprintf(from, sizeof from, "%s\\programs\\*", self);
  WIN32_FIND_DATAA found;
  HANDLE search = FindFirstFileA(from, &found);
  do {
    if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) continue;
    char source[2 * MAX_PATH], copy[3 * MAX_PATH];
    snprintf(source, sizeof source, "%s\\programs\\%s", self, found.cFileName);
    snprintf(copy, sizeof copy, "%s\\%s", to, found.cFileName);
    if (!CopyFileA(source, copy, FALSE)) return 1;
  } while (FindNextFileA(search, &found));
  return 0;
}

int main(int count, char **words) {
  GetModuleFileNameA(NULL, self, sizeof self);
  *strrchr(self, '\\') = 0;
  if (count > 1 && !strcmp(words[1], "metadata")) return print("metadata.json");
  const char *target_dir = NULL, *triple = NULL;
  for (int i = 1; i + 1 < count; i++) {
    if (!strcmp(words[i], "--target-dir")) target_dir = words[i + 1];
    if (!strcmp(words[i], "--target")) triple = words[i + 1];
  }
  if (count > 1 && !strcmp(words[1], "build") && target_dir && triple) return hand_over(target_dir, triple, "release");
  fprintf(stderr, "the stand-in for cargo does not know `%s`\n", count > 1 ? words[1] : "");
  return 101;
}
