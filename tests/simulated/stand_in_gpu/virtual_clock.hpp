// The clock of a process on the pretended node. From start_clock() on the
// host's steady clock stands still but for what the stand-in adds: so what a
// program measures is what was planted, whatever this machine does meanwhile.
// Each thread has a time of its own; OpenMP's barriers make them equal.
#pragma once

namespace stand_in {

void start_clock();

/// Nanoseconds since start_clock(), of the calling thread.
double host_now();
void host_spends(double nanoseconds);
void host_waits_until(double nanoseconds);

}  // namespace stand_in
