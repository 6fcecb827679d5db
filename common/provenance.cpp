#include "common/provenance.hpp"

#include <algorithm>
#include <cmath>

#include "common/build_info.hpp"
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

// `code=VERSION`: the compute capability that the code is for. With `ptx=`:
// that of the PTX which the driver compiled, because no other code was there.
std::string code_version(const Gpu& gpu) {
  const DeviceGuard guard(gpu.index);
  cudaFuncAttributes attributes = {};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kClockRateKernel));
  const auto text = [](int version) {
    return std::to_string(version / 10) + "." + std::to_string(version % 10);
  };
  std::string code = "code=" + text(attributes.binaryVersion);
  if (attributes.binaryVersion != attributes.ptxVersion) {
    code += " ptx=" + text(attributes.ptxVersion);
  }
  return code;
}

// Whether it is the error of a kernel without code for the GPU.
bool has_no_code(cudaError_t error) {
  const auto errors = {
      cudaErrorInvalidDeviceFunction,  cudaErrorInvalidKernelImage,
      cudaErrorNoKernelImageForDevice, cudaErrorInvalidPtx,
      cudaErrorUnsupportedPtxVersion,  cudaErrorJitCompilerNotFound,
      cudaErrorJitCompilationDisabled};
  return std::count(errors.begin(), errors.end(), error) > 0;
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

void write_programs(LineWriter& out, const ProgramInfo& info,
                    const Options& options) {
  int driver = 0, runtime = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  out.comment("program[" + version_text(info) +
              " asked_samples=" + std::to_string(options.samples) + ']');
  std::string sets = name_of(Set::kStudy);
  sets += std::string(",") + name_of(Set::kToday);
  if (options.all) sets += std::string(",") + name_of(Set::kEvidence);
  out.comment("sets[measured=" + sets + "]");
  out.comment("cuda[driver=" + cuda_version_text(driver) + " runtime=" +
              cuda_version_text(runtime) + ' ' + pair_text("nvcc", kNvcc) +
              ' ' + pair_text("gcc", __VERSION__) + ']');
}

std::string gpu_text(const Gpu& gpu) {
  return "index=" + std::to_string(gpu.index) + ' ' +
         pair_text("name", gpu.name) + " sms=" + std::to_string(gpu.sm_count) +
         " capability=" + std::to_string(gpu.major) + '.' +
         std::to_string(gpu.minor);
}

void write_gpus(LineWriter& out, const std::vector<Gpu>& gpus,
                std::vector<SmClockProbe>& probes, std::size_t found,
                bool access) {
  const std::string peers = access ? " peer_access=yes" : " peer_access=no";
  out.comment("gpus[visible=" + std::to_string(found) +
              " used=" + std::to_string(gpus.size()) +
              (gpus.size() > 1 ? peers : "") + ']');
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Gpu& gpu = gpus[i];
    out.comment("gpu[" + gpu_text(gpu) +
                " clock=" + format_number(settled_mhz(probes[i]), 0) + ' ' +
                code_version(gpu) + " cpu=" +
                (gpu.cpu < 0 ? "any" : std::to_string(gpu.cpu)) + ']');
  }
  out.comment(std::string("host[waits=") +
              (waits_spinning() ? "spinning" : "otherwise") +
              " kernels=" + kernel_loading() + ']');
}

}  // namespace syncbench
