/* Starts `zig.exe clang` under the names that a dist has: clang.exe, clang++.exe, lld.exe, llvm-ar.exe. */
#include <stdio.h>
#include <wchar.h>
#include <windows.h>

static const wchar_t *rest_of(const wchar_t *line) {
  int quoted = 0;
  for (; *line && (quoted || (*line != L' ' && *line != L'\t')); line++)
    if (*line == L'"') quoted = !quoted;
  while (*line == L' ') line++;
  return line;
}

int wmain(void) {
  static wchar_t self[32768], path[65536], line[32768 * 2];
  GetModuleFileNameW(NULL, self, 32768);
  wchar_t *name = wcsrchr(self, L'\\');
  *name++ = 0;
  const wchar_t *rest = rest_of(GetCommandLineW());
  const wchar_t *verb = L"clang";
  if (!_wcsicmp(name, L"clang++.exe")) verb = L"clang --driver-mode=g++";
  if (!_wcsicmp(name, L"llvm-ar.exe")) verb = L"ar";
  if (!_wcsicmp(name, L"lld.exe")) {
    verb = L"ld.lld";
    const wchar_t flavor[] = L"-flavor gnu ";
    if (!wcsncmp(rest, flavor, wcslen(flavor))) rest += wcslen(flavor);
  }
  /* clang looks for lld beside itself, and it is zig.exe: so it finds it on the PATH. */
  size_t length = GetEnvironmentVariableW(L"PATH", path + 32768, 32767);
  path[32768 + length] = 0;
  _snwprintf(path, 32767, L"%ls;%ls", self, path + 32768);
  SetEnvironmentVariableW(L"PATH", path);
  _snwprintf(line, sizeof line / sizeof *line - 1, L"\"%ls\" %ls %ls", ZIG, verb, rest);
  STARTUPINFOW start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
  start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
  start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
  start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  PROCESS_INFORMATION process;
  if (!CreateProcessW(ZIG, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) {
    fprintf(stderr, "%ls does not start: %lu\n", ZIG, GetLastError());
    return 127;
  }
  WaitForSingleObject(process.hProcess, INFINITE);
  DWORD code = 127;
  GetExitCodeProcess(process.hProcess, &code);
  return (int)code;
}
