// SPDX-License-Identifier: Apache-2.0
// What a back end must offer, in one place: load what Triton compiled, and run it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace triton_jit {

struct Grid {
  std::uint32_t x = 1, y = 1, z = 1;
};

// One kernel out of Triton's cache: the file and the metadata that Triton wrote beside it.
struct Binary {
  std::string path;
  std::string name;  // of the exported function
  std::map<std::string, std::string> metadata;

  // A whole number of the metadata; `otherwise` where it is absent or None.
  std::int64_t number(const std::string &field, std::int64_t otherwise) const;
  std::string bytes() const;
};

using Stream = void *;

// Memory that a kernel asks for beyond its arguments, alive until the shared_ptr is gone. Device memory of the current
// device whose reuse is ordered after `stream`, as that of torch's caching allocator.
using ScratchAllocator = std::function<std::shared_ptr<void>(std::size_t bytes, std::size_t alignment, Stream stream)>;

template <class B>
concept Backend = requires(const Binary &binary, const typename B::Function &function, const Grid &grid,
                           std::uint64_t *slots, int count, Stream stream) {
  // Triton's name of the target, and the extension of the compiled file.
  { B::name } -> std::convertible_to<std::string_view>;
  { B::extension } -> std::convertible_to<std::string_view>;
  // Whether num_warps, num_stages and num_ctas change the compiled kernel.
  { B::has_warps } -> std::convertible_to<bool>;
  // A number for the context that a loaded module belongs to; 0 where there is one context only.
  { B::context() } -> std::same_as<std::uintptr_t>;
  // Loads for the current device and context. Throws LaunchError.
  { B::load(binary) } -> std::same_as<typename B::Function>;
  // Runs the grid with the arguments in 8-byte slots. Throws LaunchError. `slots` has room for two more.
  { B::launch(function, grid, stream, slots, count) } -> std::same_as<void>;
};

// Where kernels with global scratch get it from; without one such a kernel is refused.
void set_scratch_allocator(ScratchAllocator allocator);
const ScratchAllocator &scratch_allocator();

}  // namespace triton_jit
