// SPDX-License-Identifier: Apache-2.0
// Comparison with torch's own result in float64, as flag_gems/testing/accuracy.py does it.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tensor.h"

namespace flag_gems {

inline c10::Device test_device() { return c10::Device(kDevice, kDevice == c10::DeviceType::CPU ? -1 : 0); }

inline at::TensorOptions options(at::ScalarType dtype) { return at::TensorOptions(dtype).device(test_device()); }

// Values in [-1, 1) with a fixed seed.
inline at::Tensor values(at::IntArrayRef shape, at::ScalarType dtype, std::uint64_t seed = 1) {
  auto generator = at::detail::createCPUGenerator(seed);
  return (at::rand(shape, generator, at::kDouble) * 2 - 1).to(test_device(), dtype);
}

// Each element of `result` within `length` roundings of its dtype of the float64 reference.
inline void expect_near(const at::Tensor &result, const at::Tensor &reference, std::int64_t length = 1) {
  ASSERT_EQ(result.sizes(), reference.sizes());
  double unit = 0;
  switch (result.scalar_type()) {
    case at::kHalf: unit = 0x1p-11; break;
    case at::kBFloat16: unit = 0x1p-8; break;
    case at::kFloat: unit = 0x1p-23; break;
    case at::kDouble: unit = 0x1p-52; break;
    default: break;
  }
  // Sums of half types are kept in float32: their error is that of the final rounding.
  const bool is_half = result.scalar_type() == at::kHalf || result.scalar_type() == at::kBFloat16;
  const double tolerance = unit * (is_half ? 4 : 4 * static_cast<double>(std::max<std::int64_t>(length, 1)));
  const at::Tensor got = result.cpu().to(at::kDouble), wanted = reference.cpu().to(at::kDouble);
  const at::Tensor wrong = (got - wanted).abs() > tolerance * (1 + wanted.abs());
  EXPECT_FALSE(wrong.any().item<bool>()) << wrong.sum().item<std::int64_t>() << " of " << wrong.numel() << " differ, by up to "
                                         << (got - wanted).abs().max().item<double>() << ", allowed " << tolerance;
  EXPECT_EQ(at::isnan(got).sum().item<std::int64_t>(), at::isnan(wanted).sum().item<std::int64_t>());
}

}  // namespace flag_gems
