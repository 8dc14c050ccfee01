// SPDX-License-Identifier: Apache-2.0
#include "geometry.h"

#include <c10/core/WrapDimMinimal.h>

#include <algorithm>

namespace flag_gems {

Tile row_tile(std::int64_t rows, std::int64_t columns, bool contiguous) {
  std::int64_t height = next_power_of_2(rows);
  const std::int64_t width = next_power_of_2(columns);
  if (contiguous) {
    if (width <= kRow) return {std::min(height, std::max<std::int64_t>(kTile / width, 1)), width};
    return {1, kTile};
  }
  height = std::min(height, std::max<std::int64_t>(kTile / width, 64));
  return {height, std::min(width, std::max<std::int64_t>(kTile / height, 1))};
}

void coalesce(Numbers &sizes, std::initializer_list<Numbers *> strides) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = sizes[i];
    if (size == 1) continue;
    const bool joins = kept > 0 && std::all_of(strides.begin(), strides.end(), [&](const Numbers *own) {
      return (*own)[kept - 1] == (*own)[i] * size;
    });
    if (joins) {
      sizes[kept - 1] *= size;
      for (Numbers *own : strides) (*own)[kept - 1] = (*own)[i];
    } else {
      sizes[kept] = size;
      for (Numbers *own : strides) (*own)[kept] = (*own)[i];
      ++kept;
    }
  }
  sizes.resize(kept);
  for (Numbers *own : strides) own->resize(kept);
}

std::optional<Grid2> grid2(Numbers sizes, std::initializer_list<Numbers> strides) {
  std::array<Numbers, 3> own;
  std::copy(strides.begin(), strides.end(), own.begin());
  for (std::size_t t = strides.size(); t < own.size(); ++t) own[t].assign(sizes.size(), 0);
  // A tensor that is not there steps by 0 everywhere, which never hinders joining.
  coalesce(sizes, {&own[0], &own[1], &own[2]});
  if (sizes.size() > 2) return std::nullopt;
  Grid2 result;
  // A lone dimension becomes the outer one: the kernel's division by inner_size 1 then folds away.
  if (!sizes.empty()) result.outer_size = sizes[0];
  if (sizes.size() == 2) result.inner_size = sizes[1];
  for (std::size_t t = 0; t < own.size(); ++t) {
    if (!sizes.empty()) result.outer[t] = own[t][0];
    if (sizes.size() == 2) result.inner[t] = own[t][1];
  }
  return result;
}

Numbers without(at::IntArrayRef values, std::int64_t dim) {
  Numbers result;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i)
    if (i != dim) result.push_back(values[i]);
  return result;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) { return c10::maybe_wrap_dim(dim, rank); }

}  // namespace flag_gems
