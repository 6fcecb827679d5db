// Ctrl-C ends a run between two samples, so that only whole rows are written.
#pragma once

#include <csignal>

#include "common/errors.hpp"

namespace syncbench {

inline volatile std::sig_atomic_t pending_signal = 0;

/// Turns SIGINT and SIGTERM into a request that check_interrupt() sees. The
/// second signal kills as usual, should a kernel hang. A reader that went away
/// or a file-size limit becomes an error of write() instead of a silent death.
inline void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) { pending_signal = signal; };
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
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
