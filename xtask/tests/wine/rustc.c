/* A stand-in for rustc.exe, whose parts no registry has all of: it tells cargo.exe what the real one said on Linux, and hands over programs that the real
 * one cross-built there. Beside it lie `version.txt`, `target.txt` and `programs\`. */
#include <stdio.h>
#include <string.h>
#include <windows.h>

enum { ROOM = 4096 };
static char self[ROOM];

static int print(const char *name) {
  char path[2 * ROOM], block[65536];
  snprintf(path, sizeof path, "%s\\%s", self, name);
  FILE *file = fopen(path, "rb");
  if (!file) return 1;
  for (size_t size; (size = fread(block, 1, sizeof block, file)) > 0;) fwrite(block, 1, size, stdout);
  return fclose(file);
}

static int write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  return !file || fputs(text, file) < 0 || fclose(file);
}

static int hand_over(const char *crate, const char *to) {
  char from[2 * ROOM], name[256];
  snprintf(name, sizeof name, "%s", crate);
  for (char *at = name; *at; at++)
    if (*at == '_') *at = '-';
  snprintf(from, sizeof from, "%s\\programs\\%s.exe", self, name);
  return !CopyFileA(from, to, FALSE);
}

int main(int count, char **words) {
  GetModuleFileNameA(NULL, self, sizeof self);
  *strrchr(self, '\\') = 0;
  const char *crate = "", *kind = "", *out = "", *extra = "", *source = "";
  for (int i = 1; i < count; i++) {
    const char *next = i + 1 < count ? words[i + 1] : "", *word = words[i];
    size_t length = strlen(word);
    if (!strcmp(word, "-vV")) return print("version.txt");
    if (!strncmp(word, "--print=", 8)) return print("target.txt");
    if (!strcmp(word, "--crate-name")) crate = next;
    if (!strcmp(word, "--crate-type")) kind = next;
    if (!strcmp(word, "--out-dir")) out = next;
    if (!strncmp(word, "extra-filename=", 15)) extra = word + 15;
    if (length > 3 && !strcmp(word + length - 3, ".rs")) source = word;
  }
  char path[2 * ROOM], depends[4 * ROOM];
  snprintf(path, sizeof path, "%s\\%s%s.d", out, crate, extra);
  snprintf(depends, sizeof depends, "%s: %s\n", path, source);
  if (!*crate || !*out || write_file(path, depends)) {
    fprintf(stderr, "the stand-in for rustc was not told what to compile\n");
    return 101;
  }
  if (!strcmp(kind, "bin")) {
    snprintf(path, sizeof path, "%s\\%s%s.exe", out, crate, extra);
    return hand_over(crate, path);
  }
  const char *endings[] = {"rlib", "rmeta"};
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s\\lib%s%s.%s", out, crate, extra, endings[i]);
    if (write_file(path, "!<arch>\n")) return 1;
  }
  return 0;
}
