#include "common/provenance.hpp"

#include <cmath>

#include "build_info.hpp"
#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"

namespace syncbench {
namespace {

// An idle GPU runs slow and takes a while to speed up: probes follow each
// other until five in a row agree, for at most half a second. In MHz.
double settled_mhz(SmClockProbe& probe) {
  double mhz = probe.read_mhz();
  int steady = 0;
  for (int i = 0; i < 2500 && steady < 5; ++i) {
    const double next = probe.read_mhz();
    steady = i > 250 && std::abs(next / mhz - 1) < 0.002 ? steady + 1 : 0;
    mhz = next;
  }
  return mhz;
}

// Compute capability the code was compiled for; where only PTX was there for
// this GPU, the driver compiled it.
std::string code_version(const Gpu& gpu) {
  const DeviceGuard guard(gpu.index);
  cudaFuncAttributes attributes = {};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kClockRateKernel));
  const auto text = [](int version) {
    return std::to_string(version / 10) + "." + std::to_string(version % 10);
  };
  if (attributes.binaryVersion == attributes.ptxVersion) {
    return text(attributes.binaryVersion);
  }
  return text(attributes.binaryVersion) + " made by the driver from PTX for " +
         text(attributes.ptxVersion);
}

// Whether that is what a kernel fails with that was not compiled for the GPU.
bool has_no_code(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
      return true;
    default:
      return false;
  }
}

}  // namespace

void require_code_for(const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    cudaFuncAttributes attributes = {};
    const cudaError_t error =
        cudaFuncGetAttributes(&attributes, kClockRateKernel);
    if (!has_no_code(error)) {
      check_cuda(error, "cudaFuncGetAttributes", __FILE__, __LINE__);
      continue;
    }
    cudaGetLastError();
    const std::string architecture =
        std::to_string(gpu.major) + std::to_string(gpu.minor);
    throw NoDeviceError(
        "no code for GPU " + std::to_string(gpu.index) + " (" + gpu.name +
        ") in this build: " + cudaGetErrorString(error) +
        "; build with -DCMAKE_CUDA_ARCHITECTURES=" + architecture);
  }
}

void write_programs(LineWriter& out, const std::string& program) {
  int driver = 0, runtime = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  out.comment(program);
  out.comment("cuda: driver " + cuda_version_text(driver) + ", runtime " +
              cuda_version_text(runtime) +
              ", built with nvcc " SYNCBENCH_NVCC ", gcc " __VERSION__);
}

void write_gpus(LineWriter& out, const std::vector<Gpu>& gpus,
                std::vector<SmClockProbe>& probes, std::size_t found,
                bool access) {
  out.comment("gpus: " + std::to_string(found) + " visible, " +
              std::to_string(gpus.size()) + " used");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Gpu& gpu = gpus[i];
    out.comment("gpu " + std::to_string(gpu.index) + ": " + gpu.name + ", " +
                std::to_string(gpu.sm_count) + " SMs, compute capability " +
                std::to_string(gpu.major) + "." + std::to_string(gpu.minor) +
                ", SM clock seen " + format_number(settled_mhz(probes[i]), 0) +
                " MHz, code for " + code_version(gpu) + ", driven from CPU " +
                (gpu.cpu < 0 ? "any" : std::to_string(gpu.cpu)));
  }
  if (gpus.size() > 1) {
    out.comment(std::string("peer access: ") + (access ? "on" : "not") +
                " between all pairs of GPUs");
  }
  out.comment(std::string("host waits: ") +
              (waits_spinning() ? "spinning (cudaDeviceScheduleSpin)"
                                : "not spinning") +
              "; kernels loaded: " + kernel_loading());
}

}  // namespace syncbench
