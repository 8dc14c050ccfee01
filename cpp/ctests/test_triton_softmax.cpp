// SPDX-License-Identifier: Apache-2.0
#include "flag_gems/operators.h"
#include "near.h"

using flag_gems::expect_near;
using flag_gems::values;

namespace {

class Softmax : public testing::TestWithParam<at::ScalarType> {};

TEST_P(Softmax, AgreesWithFloat64AlongEveryDimension) {
  const at::Tensor x = values({3, 7, 33}, GetParam());
  for (std::int64_t dim : {-1, 0, 1}) expect_near(flag_gems::softmax(x, dim), at::softmax(x.cpu().to(at::kDouble), dim), 33);
}

TEST_P(Softmax, TakesStridesLongRowsAndNothing) {
  const at::Tensor x = values({5, 4, 6, 3}, GetParam()).permute({2, 0, 3, 1});
  expect_near(flag_gems::softmax(x, 1), at::softmax(x.cpu().to(at::kDouble), 1), 5);
  const at::Tensor wide = values({2, 40'000}, GetParam());
  expect_near(flag_gems::softmax(wide, 1), at::softmax(wide.cpu().to(at::kDouble), 1), 16);
  EXPECT_EQ(flag_gems::softmax(values({0, 4}, GetParam()), 1).numel(), 0);
  EXPECT_EQ(flag_gems::softmax(values({}, GetParam()), 0).item<double>(), 1.0);
}

TEST_P(Softmax, BackwardAgreesWithFloat64) {
  const at::Tensor y = flag_gems::softmax(values({6, 33}, GetParam()), 1), grad = values({6, 33}, GetParam(), 2);
  const at::Tensor wide = y.cpu().to(at::kDouble), slope = grad.cpu().to(at::kDouble);
  expect_near(flag_gems::softmax_backward(grad, y, 1, GetParam()), wide * (slope - (wide * slope).sum(1, true)), 33);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Softmax, testing::Values(at::kFloat, at::kHalf, at::kBFloat16, at::kDouble),
                         [](const auto &info) { return c10::toString(info.param); });

TEST(SoftmaxErrors, ADimensionOutOfRangeIsAnIndexError) { EXPECT_THROW(flag_gems::softmax(values({2, 3}, at::kFloat), 2), c10::IndexError); }

}  // namespace
