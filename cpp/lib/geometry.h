// SPDX-License-Identifier: Apache-2.0
// Shapes and strides as kernels loop over them, and tile sizes: the C++ side of flag_gems/runtime/{geometry,tiling}.py.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <cstdint>
#include <optional>

namespace flag_gems {

using Numbers = c10::SmallVector<std::int64_t, 8>;

// Elements that one program holds of one tensor, and the longest contiguous row that it holds whole.
inline constexpr std::int64_t kTile = 1 << 12;
inline constexpr std::int64_t kRow = 1 << 15;

inline std::int64_t next_power_of_2(std::int64_t value) {
  return value <= 1 ? 1 : std::int64_t{1} << (64 - __builtin_clzll(static_cast<std::uint64_t>(value - 1)));
}
inline std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

// num_warps for a tile of so many elements: a power of two from 1 to 16.
inline int warps(std::int64_t elements) {
  const std::int64_t wanted = next_power_of_2(elements) / 512;
  return static_cast<int>(wanted < 1 ? 1 : wanted > 16 ? 16 : wanted);
}

struct Tile {
  std::int64_t rows, columns;
};
Tile row_tile(std::int64_t rows, std::int64_t columns, bool contiguous);

// Drops dimensions of size 1 and joins neighbours that every tensor steps through evenly; in place.
void coalesce(Numbers &sizes, std::initializer_list<Numbers *> strides);

// Up to two dimensions: element (i, j) of tensor t is at i * outer[t] + j * inner[t].
struct Grid2 {
  std::int64_t outer_size = 1, inner_size = 1;
  std::array<std::int64_t, 3> outer{}, inner{};
  std::int64_t size() const { return outer_size * inner_size; }
};
std::optional<Grid2> grid2(Numbers sizes, std::initializer_list<Numbers> strides);

// Sizes or strides of all dimensions but `dim`.
Numbers without(at::IntArrayRef values, std::int64_t dim);

// `dim` counted from the front. Throws torch's IndexError.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank);

}  // namespace flag_gems
