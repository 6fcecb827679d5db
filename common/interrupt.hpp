// Ctrl-C ends a run between two samples, so that only whole rows are written.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/errors.hpp"

namespace syncbench {

inline volatile std::sig_atomic_t pending_signal = 0;

/// Of SIGINT and SIGTERM: notes the signal.
inline void note_signal(int signal) { pending_signal = signal; }

/// The same, and says what follows.
inline void note_signal_aloud(int signal) {
  constexpr char kText[] =
      "interrupted: the run ends after the current sample; a second signal "
      "ends it at once\n";
  const int error = errno;
  pending_signal = signal;
  // Where it cannot be said, the run ends all the same.
  [[maybe_unused]] const ssize_t count =
      write(STDERR_FILENO, kText, sizeof kText - 1);
  errno = error;
}

/// Turns SIGINT and SIGTERM into a request that check_interrupt() sees. The
/// second signal kills as usual, should a kernel hang. `aloud`: the first says
/// so. A SIGINT that is ignored, as in background jobs, stays so. A reader that
/// went away or a file-size limit becomes an error of write() instead of a
/// silent death.
inline void install_signal_handlers(bool aloud = false) {
  struct sigaction action = {}, inherited = {};
  action.sa_handler = aloud ? note_signal_aloud : note_signal;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, nullptr, &inherited);
  if (inherited.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // ignored, children would leave no status
}

/// Throws Interrupted when a signal has arrived. Called once a sample.
inline void check_interrupt() {
  if (pending_signal != 0) throw Interrupted{pending_signal};
}

}  // namespace syncbench
