// A flag that is seen before the data it announces, in global memory and in
// that of another GPU. Every access is a single instruction of the program's
// order (volatile, or inline PTX), so that the order is lost in the hardware.
#include "pitfalls/race.cuh"

namespace syncbench::pitfalls {
namespace {

constexpr unsigned kWords = 32;  // of data, a lane each

/// What a try's writer and reader share.
struct Mail {
  unsigned* data;  // kWords, kApart words from each other
  unsigned* flag;
};
constexpr unsigned kApart = 1024;

/// How the reader reads the data.
enum class Reading {
  kCached,   // L1 may have it
  kUncached  // volatile
};

template <Reading kReading>
__device__ unsigned read_data(const unsigned* address) {
  if (kReading == Reading::kUncached) return read_now(address);
  unsigned value;
  asm volatile("ld.global.ca.u32 %0, [%1];"
               : "=r"(value)
               : "l"(address)
               : "memory");
  return value;
}

template <bool kRight>
__device__ void send(const Mail& mail, unsigned lane) {
  spin(40000);  // until the reader has looked at the old data
  write_now(mail.data + lane * kApart, lane + 1);
  if constexpr (kRight) {
    __threadfence_system();
    __syncwarp();
  }
  if (lane == 0) write_now(mail.flag, 1);
}

template <bool kRight, Reading kReading>
__device__ bool receive_wrong(const Mail& mail, unsigned lane) {
  const unsigned* data = mail.data + lane * kApart;
  // The old value: L1 may have it from now on. An unused load would be dropped.
  const unsigned before = read_data<kReading>(data);
  const bool known = before == 0 || before == lane + 1;
  const bool came = spin_until([&] { return read_now(mail.flag) != 0; });
  if constexpr (kRight) __threadfence_system();
  return !came || !known || read_data<kReading>(data) != lane + 1;
}

__device__ Mail mail_of(const Mail& first, unsigned number) {
  return {first.data + number * kWords * kApart, first.flag + number * kApart};
}

template <bool kRight, Reading kReading>
__global__ void exchange(Mail first, Role role, unsigned first_try,
                         unsigned* wrong) {
  const bool both = role == Role::kBoth;
  const unsigned number = both ? blockIdx.x / 2 : blockIdx.x;
  const bool writes = both ? blockIdx.x % 2 == 0 : role == Role::kWriters;
  const Mail mail = mail_of(first, number);
  if (writes) {
    send<kRight>(mail, threadIdx.x);
  } else if (receive_wrong<kRight, kReading>(mail, threadIdx.x)) {
    wrong[first_try + number] = 1;
  }
}

/// Tries of one launch: all of its blocks are resident.
constexpr int kTogether = 64;

// The memory of the tries of one launch. `data` and `flags` lie on these GPUs.
struct MailRoom {
  MailRoom(int data_on, int flags_on)
      : data_device(data_on),
        flags_device(flags_on),
        data(data_on, kTogether * kWords * kApart),
        flags(flags_on, kTogether * kApart) {}
  void clear() {
    {
      const DeviceGuard guard(data_device);
      data.set_to_zero();
    }
    const DeviceGuard guard(flags_device);
    flags.set_to_zero();
  }
  int data_device, flags_device;
  DeviceBuffer<unsigned> data, flags;
};

// Launches of kTogether tries. The data has the longer way to go: it is beside
// the reader, the flag beside the writer.
template <Reading kReading>
void run_exchange(Child& child, Form form) {
  child.require_architecture(kRaceArchitecture);
  const std::vector<int> devices = devices_with_access(child);
  MailRoom room(devices.back(), devices.front());
  const std::vector<Stream> streams = make_streams(devices);
  const Tries tries(devices.back(), child.tries());
  const Mail mail = {room.data.get(), room.flags.get()};
  const auto kernel = form == Form::kRight ? exchange<true, kReading>
                                           : exchange<false, kReading>;
  for (int done = 0; done < child.tries(); done += kTogether) {
    const int count = std::min(kTogether, child.tries() - done);
    room.clear();
    launch_both(child, devices, streams, count,
                [&](Role role, int blocks, cudaStream_t stream) {
                  kernel<<<blocks, kWords, 0, stream>>>(mail, role, done,
                                                        tries.wrong());
                });
  }
  tries.report(child);
}

}  // namespace

std::vector<Case> fence_race_cases() {
  return {
      race("flag_in_global_memory",
           "race: data, then a flag for another block that has the old data in "
           "L1; right: a fence on both sides",
           1, &run_exchange<Reading::kCached>),
      race("volatile_flag_and_data",
           "race: the same, all of it volatile and not in L1", 1,
           &run_exchange<Reading::kUncached>),
      race("flag_in_peer_memory",
           "race: data, then a flag for another GPU that has the old data in "
           "L1; right: a fence on both sides",
           2, &run_exchange<Reading::kCached>),
      race("volatile_flag_in_peer_memory",
           "race: the same, all of it volatile and not in L1", 2,
           &run_exchange<Reading::kUncached>)};
}

}  // namespace syncbench::pitfalls
