// What a thread knows of the writes of others, and how it gets to know.
#pragma once

#include <algorithm>
#include <cstdint>

namespace barrier_model {

/// The round that each cell is known to hold, four bits a cell.
using View = std::uint64_t;

inline View view_of(unsigned cell, View round) { return round << 4 * cell; }

/// The later round of each cell.
inline View joined(View one, View other) {
  View both = 0;
  for (unsigned cell = 0; cell < 16; ++cell) {
    const View mask = view_of(cell, 15);
    both |= std::max(one & mask, other & mask);
  }
  return both;
}

/// What a release or a fence makes known: on its own GPU, and to all.
struct Released {
  View on_gpu = 0, to_all = 0;
  int gpu = 0;
};

/// By a thread of `gpu`, at system scope or that of its GPU.
inline void acquire(View& view, int gpu, bool system,
                    const Released& released) {
  if (released.gpu == gpu) view = joined(view, released.on_gpu);
  if (system) view = joined(view, released.to_all);
}

/// An addition at system scope or that of its GPU; what others have released to
/// the counter stays, of other GPUs what they have released to all, which only
/// an acquire at system scope takes.
inline void release(View view, int gpu, bool system, Released& released) {
  if (released.gpu != gpu) released.on_gpu = 0;
  released.gpu = gpu;
  released.on_gpu = joined(released.on_gpu, view);
  if (system) released.to_all = joined(released.to_all, view);
}

/// The stores that follow in the thread carry `fenced`.
inline void fence(View view, int gpu, bool system, Released& fenced) {
  fenced.gpu = gpu;
  fenced.on_gpu = view;
  if (system) fenced.to_all = view;
}

}  // namespace barrier_model
