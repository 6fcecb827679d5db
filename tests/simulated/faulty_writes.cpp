// Loaded before the C library: the write() to standard output that is number
// WRITE_AT is interrupted by WRITE_SIGNAL, fails with WRITE_ERROR, or writes
// half (WRITE_HALF=1), and the next one meets the others. FSYNC_AT fails with
// FSYNC_ERROR. WRITE_MS: milliseconds that each write takes.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace {

int asked(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

template <class Function>
Function real(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" ssize_t write(int file, const void* data, size_t size) {
  static const auto real_write = real(&write, "write");
  static std::atomic<int> calls{0};
  constexpr char kOfStandIn[] = "# simulated:";
  const bool counts =
      file == STDOUT_FILENO &&
      (size < sizeof kOfStandIn ||
       std::memcmp(data, kOfStandIn, sizeof kOfStandIn - 1) != 0);
  if (counts) usleep(1000 * static_cast<useconds_t>(asked("WRITE_MS")));
  const int at = asked("WRITE_AT"), half = asked("WRITE_HALF");
  const int call = counts && at > 0 ? ++calls - at : -1;
  if (half != 0 && call == 0) return real_write(file, data, (size + 1) / 2);
  if (call == half) {
    if (const int signal = asked("WRITE_SIGNAL")) std::raise(signal);
    errno = asked("WRITE_ERROR");
    if (errno != 0) return -1;
  }
  return real_write(file, data, size);
}

extern "C" int fsync(int file) {
  static const auto real_fsync = real(&fsync, "fsync");
  static std::atomic<int> calls{0};
  if (++calls != asked("FSYNC_AT")) return real_fsync(file);
  errno = asked("FSYNC_ERROR");
  return -1;
}
