// SPDX-License-Identifier: Apache-2.0
// CUDA 12 and 13 through the driver API, and IX (Iluvatar CoreX), whose driver has the same interface.
#pragma once

#include <cuda.h>

#include "triton_jit/backend.h"

namespace triton_jit {

struct CudaBackend {
  static constexpr std::string_view name = "cuda";
  static constexpr std::string_view extension = "cubin";
  static constexpr bool has_warps = true;

  struct Function {
    CUfunction function = nullptr;
    unsigned threads = 0, shared = 0, clusters = 1;
    bool is_cooperative = false, is_dependent = false;
    // Bytes for each program and alignment of the two kinds of scratch; -1 bytes: this Triton passes no such argument.
    std::int64_t scratch = -1, scratch_alignment = 1, profile_scratch = -1;
  };

  static std::uintptr_t context();
  static Function load(const Binary &binary);
  static void launch(const Function &function, const Grid &grid, Stream stream, std::uint64_t *slots, int count);
};

}  // namespace triton_jit
