// SPDX-License-Identifier: Apache-2.0
// From at::Tensor to kernel arguments, and the few things that every wrapper asks of the device.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#ifdef TRITON_JIT_CUDA
#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include "triton_jit/kernel.h"

namespace flag_gems {

using triton_jit::Argument;
using triton_jit::DType;
using triton_jit::Kernel;

// The device on which this library's kernels run.
#if defined(TRITON_JIT_CPU)
inline constexpr c10::DeviceType kDevice = c10::DeviceType::CPU;
#elif defined(TRITON_JIT_CUDA) || defined(TRITON_JIT_IX)
inline constexpr c10::DeviceType kDevice = c10::DeviceType::CUDA;
#else
inline constexpr c10::DeviceType kDevice = c10::DeviceType::PrivateUse1;
#endif

DType triton_dtype(at::ScalarType dtype);

inline Argument argument(const at::Tensor &tensor) {
  return Argument(tensor.unsafeGetTensorImpl()->data(), triton_dtype(tensor.scalar_type()));
}

inline bool is_floating(at::ScalarType dtype) {
  return dtype == at::kFloat || dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kDouble;
}
inline bool is_integral(at::ScalarType dtype) {
  return dtype == at::kInt || dtype == at::kLong || dtype == at::kShort || dtype == at::kChar || dtype == at::kByte;
}
inline bool is_real(at::ScalarType dtype) { return is_floating(dtype) || is_integral(dtype) || dtype == at::kBool; }

// The dtype in which values of a real dtype are computed (flag_gems/runtime/dtypes.py).
DType compute_dtype(at::ScalarType dtype);

// The dtype in which sums of a floating dtype are kept.
inline at::ScalarType accumulate_dtype(at::ScalarType dtype) {
  return dtype == at::kDouble ? at::kDouble : at::kFloat;
}

// Whether kernels can read this tensor's memory by its strides.
bool is_readable(const at::Tensor &tensor);

// Whether the elements fill one stretch of memory, in any order.
bool is_dense(const at::Tensor &tensor);

// A new contiguous tensor on the device of `like`.
inline at::Tensor empty(at::IntArrayRef shape, at::ScalarType dtype, const at::Tensor &like) {
  const c10::Device device = like.device();
#ifdef TRITON_JIT_CUDA
  // Below the dispatcher: half of what at::empty costs the host.
  if (device.is_cuda()) return at::detail::empty_cuda(shape, dtype, device, std::nullopt);
#endif
  if (device.is_cpu()) return at::detail::empty_cpu(shape, dtype);
  return at::empty(shape, at::TensorOptions(dtype).device(device));
}

// Makes the tensor's device the current one while it lives.
#ifdef TRITON_JIT_CUDA
using DeviceScope = c10::cuda::OptionalCUDAGuard;
inline DeviceScope on_device(const at::Tensor &tensor) { return DeviceScope(tensor.device()); }
#else
struct DeviceScope {
  c10::OptionalDeviceGuard guard;
  explicit DeviceScope(c10::Device device) {
    if (!device.is_cpu()) guard.reset_device(device);
  }
};
inline DeviceScope on_device(const at::Tensor &tensor) { return DeviceScope(tensor.device()); }
#endif

triton_jit::Stream stream_of(c10::Device device);

// How a kernel is launched for this tensor.
inline triton_jit::Launch launch(const at::Tensor &tensor, triton_jit::Grid grid, int warps, int stages = 3) {
  const c10::Device device = tensor.device();
  return {.grid = grid, .num_warps = warps, .num_stages = stages,
          .device = device.has_index() ? device.index() : 0, .stream = stream_of(device)};
}

}  // namespace flag_gems
