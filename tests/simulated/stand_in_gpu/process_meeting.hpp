// Where processes or threads wait for each other.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <ctime>

namespace stand_in {

/// A barrier of so many: two counters in memory that they share, which begin as
/// zero and which nothing else uses.
class ProcessMeeting {
 public:
  ProcessMeeting(void* counters, int members)
      : members_(static_cast<unsigned>(members)),
        counters_(static_cast<Counters*>(counters)) {}

  /// False: one has not come.
  bool sync() const {
    const unsigned turn = counters_->turn;
    if (++counters_->arrived == members_) {
      counters_->arrived = 0;
      ++counters_->turn;
      syscall(SYS_futex, &counters_->turn, FUTEX_WAKE, INT_MAX);
      return true;
    }
    const timespec limit = {10, 0};
    while (counters_->turn == turn) {
      if (syscall(SYS_futex, &counters_->turn, FUTEX_WAIT, turn, &limit) != 0 &&
          errno == ETIMEDOUT) {
        return false;
      }
    }
    return true;
  }

 private:
  struct Counters {
    std::atomic<unsigned> arrived, turn;
  };
  unsigned members_;
  Counters* counters_;
};

}  // namespace stand_in
