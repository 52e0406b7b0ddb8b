// Only in builds with LOCKSTEP_COVERAGE: the linker replaces _exit and _Exit by these, so that
// forked workers, which end that way, save their counters first.

extern "C" {

void __gcov_dump();
[[noreturn]] void __real__exit(int code);
[[noreturn]] void __real__Exit(int code);

[[noreturn]] void __wrap__exit(int code) {
  __gcov_dump();
  __real__exit(code);
}

[[noreturn]] void __wrap__Exit(int code) {
  __gcov_dump();
  __real__Exit(code);
}
}
