// SPDX-License-Identifier: Apache-2.0
#include "tensor.h"

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "geometry.h"
#include "triton_jit/cpu.h"

namespace flag_gems {

namespace {

// Once, when the library is loaded: what the run time may use of torch.
const bool prepared = [] {
#ifdef TRITON_JIT_CPU
  triton_jit::set_cpu_thread_count(&at::get_num_threads);
#endif
  triton_jit::set_scratch_allocator(
      [](std::size_t bytes, std::size_t alignment, triton_jit::Stream) -> std::shared_ptr<void> {
        // On the current device and stream; torch's allocator hands the memory out again in the order of the stream.
        auto options = at::TensorOptions(at::kByte).device(kDevice);
        auto block = std::make_shared<at::Tensor>(at::empty({static_cast<std::int64_t>(bytes + alignment)}, options));
        const auto start = reinterpret_cast<std::uintptr_t>(block->data_ptr());
        return {block, reinterpret_cast<void *>((start + alignment - 1) / alignment * alignment)};
      });
  return true;
}();

}  // namespace

DType triton_dtype(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat: return DType::fp32;
    case at::kHalf: return DType::fp16;
    case at::kBFloat16: return DType::bf16;
    case at::kDouble: return DType::fp64;
    case at::kLong: return DType::i64;
    case at::kInt: return DType::i32;
    case at::kShort: return DType::i16;
    case at::kChar: return DType::i8;
    case at::kByte: return DType::u8;
    case at::kBool: return DType::u1;
    case at::kFloat8_e4m3fn: return DType::fp8e4nv;
    case at::kFloat8_e5m2: return DType::fp8e5;
    case at::kUInt16: return DType::u16;
    case at::kUInt32: return DType::u32;
    case at::kUInt64: return DType::u64;
    default: TORCH_CHECK_TYPE(false, "flag_gems: kernels take no ", dtype);
  }
}

DType compute_dtype(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
    case at::kBFloat16: return DType::fp32;
    case at::kBool: return DType::i32;
    default: return triton_dtype(dtype);
  }
}

bool is_readable(const at::Tensor &tensor) {
  return tensor.layout() == at::kStrided && !tensor.is_neg() && !tensor.is_conj();
}

bool is_dense(const at::Tensor &tensor) { return tensor.is_non_overlapping_and_dense(); }

triton_jit::Stream stream_of(c10::Device device) {
#if defined(TRITON_JIT_CPU)
  return nullptr;
#elif defined(TRITON_JIT_CUDA)
  return c10::cuda::getCurrentCUDAStream(device.index()).stream();
#else
  return c10::impl::getDeviceGuardImpl(device.type())->getStream(device).native_handle();
#endif
}

}  // namespace flag_gems
