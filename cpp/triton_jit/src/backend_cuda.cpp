// SPDX-License-Identifier: Apache-2.0
// The driver library is opened at run time, so that a build machine needs its header only.
#include "backend_cuda.h"

#include <dlfcn.h>

#include "triton_jit/errors.h"

namespace triton_jit {

namespace {

#ifdef TRITON_JIT_IX
constexpr const char *kDriver = "libcuda.so.1";  // CoreX installs its driver under CUDA's name
constexpr unsigned kWarp = 64;
#else
constexpr const char *kDriver = "libcuda.so.1";
constexpr unsigned kWarp = 32;
#endif

// Static shared memory that every kernel may use; more must be asked for.
constexpr int kPlainShared = 48 * 1024;

template <class F>
F *symbol(const char *name) {
  static void *library = dlopen(kDriver, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw LaunchError(std::string("triton_jit: no CUDA driver: ") + dlerror());
  auto *found = reinterpret_cast<F *>(dlsym(library, name));
  if (!found) throw LaunchError(std::string("triton_jit: the CUDA driver lacks ") + name);
  return found;
}

void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS) [[likely]] return;
  const char *text = nullptr;
  symbol<decltype(cuGetErrorString)>("cuGetErrorString")(result, &text);
  throw LaunchError(std::string("triton_jit: ") + what + ": " + (text ? text : "unknown error"));
}

struct Driver {
  decltype(&cuCtxGetCurrent) get_context = symbol<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  decltype(&cuLaunchKernelEx) launch = symbol<decltype(cuLaunchKernelEx)>("cuLaunchKernelEx");
};

const Driver &driver() {
  static const Driver found;
  return found;
}

}  // namespace

std::uintptr_t CudaBackend::context() {
  CUcontext current = nullptr;
  check(driver().get_context(&current), "cuCtxGetCurrent");
  return reinterpret_cast<std::uintptr_t>(current);
}

CudaBackend::Function CudaBackend::load(const Binary &binary) {
  Function result;
  CUmodule module = nullptr;
  const std::string image = binary.bytes();
  check(symbol<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module, image.data()), "cuModuleLoadData");
  check(symbol<decltype(cuModuleGetFunction)>("cuModuleGetFunction")(&result.function, module, binary.name.c_str()),
        "cuModuleGetFunction");
  const auto warp = static_cast<unsigned>(binary.number("warp_size", kWarp));
  result.threads = warp * static_cast<unsigned>(binary.number("num_warps", 4));
  result.shared = static_cast<unsigned>(binary.number("shared", 0));
  result.clusters = static_cast<unsigned>(binary.number("num_ctas", 1));
  result.is_cooperative = binary.number("launch_cooperative_grid", 0) != 0;
  result.is_dependent = binary.number("launch_pdl", 0) != 0;
  result.scratch = binary.number("global_scratch_size", -1);
  result.scratch_alignment = binary.number("global_scratch_align", 1);
  result.profile_scratch = binary.number("profile_scratch_size", -1);
  const auto set = symbol<decltype(cuFuncSetAttribute)>("cuFuncSetAttribute");
  if (result.shared > kPlainShared)
    check(set(result.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(result.shared)),
          ("shared memory of kernel " + binary.name).c_str());
  if (result.clusters == 16)
    check(set(result.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), "cluster of 16");
  return result;
}

void CudaBackend::launch(const Function &function, const Grid &grid, Stream stream, std::uint64_t *slots, int count) {
  void *parameters[72];
  std::shared_ptr<void> scratch;
  int all = count;
  if (function.scratch >= 0) {
    slots[all] = 0;
    if (function.scratch > 0) [[unlikely]] {
      if (!scratch_allocator()) throw LaunchError("triton_jit: the kernel needs scratch memory; set_scratch_allocator");
      const std::size_t programs = std::size_t{grid.x} * grid.y * grid.z * function.clusters;
      scratch = scratch_allocator()(programs * function.scratch, function.scratch_alignment, stream);
      slots[all] = reinterpret_cast<std::uint64_t>(scratch.get());
    }
    ++all;
  }
  if (function.profile_scratch >= 0) slots[all++] = 0;
  for (int i = 0; i < all; ++i) parameters[i] = &slots[i];

  CUlaunchAttribute attributes[4];
  unsigned number = 0;
  if (function.is_dependent) {
    attributes[number].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[number++].value.programmaticStreamSerializationAllowed = 1;
  }
  if (function.is_cooperative) {
    attributes[number].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[number++].value.cooperative = 1;
  }
  if (function.clusters != 1) {
    attributes[number].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[number++].value.clusterDim = {function.clusters, 1, 1};
    attributes[number].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
    attributes[number++].value.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
  }
  CUlaunchConfig config{};
  config.gridDimX = grid.x * function.clusters;
  config.gridDimY = grid.y;
  config.gridDimZ = grid.z;
  config.blockDimX = function.threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = function.shared;
  config.hStream = static_cast<CUstream>(stream);
  config.attrs = attributes;
  config.numAttrs = number;
  check(driver().launch(&config, function.function, parameters, nullptr), "cuLaunchKernelEx");
}

}  // namespace triton_jit
