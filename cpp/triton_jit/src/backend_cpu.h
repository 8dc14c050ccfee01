// SPDX-License-Identifier: Apache-2.0
// The CPU, through the shared objects that triton_cpu compiles (docs/triton_cpu.md, "The binary").
#pragma once

#include "triton_jit/backend.h"

namespace triton_jit {

struct CpuBackend {
  static constexpr std::string_view name = "cpu";
  static constexpr std::string_view extension = "so";
  static constexpr bool has_warps = false;

  using Program = void (*)(const void *arguments, std::int32_t x, std::int32_t y, std::int32_t z, std::int32_t grid_x,
                           std::int32_t grid_y, std::int32_t grid_z, void *scratch);
  struct Function {
    Program program;
    std::size_t scratch_bytes;
    std::string name;
  };

  static std::uintptr_t context() { return 0; }
  static Function load(const Binary &binary);
  // Returns when the grid is done; throws LaunchError with the text of a failed device_assert.
  static void launch(const Function &function, const Grid &grid, Stream, std::uint64_t *slots, int count);
};

}  // namespace triton_jit
