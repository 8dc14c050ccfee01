// SPDX-License-Identifier: Apache-2.0
// The way of torch.ops and of aten_patch on a PrivateUse1 device: the one that NPU and MUSA take.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "aten_patch.h"
#include "native.h"
#include "register.h"
#include "simulated_device.h"

TORCH_LIBRARY(flag_gems, library) { flag_gems::define(library); }
TORCH_LIBRARY_IMPL(flag_gems, PrivateUse1, library) { flag_gems::implement(library); }
TORCH_LIBRARY_IMPL(flag_gems, Autograd, library) { flag_gems::implement_autograd(library); }

namespace {

using at::Tensor;

constexpr auto kKey = c10::DispatchKey::PrivateUse1;

Tensor on_device(const Tensor &host) { return host.to(c10::Device(c10::DeviceType::PrivateUse1, 0)); }

template <class Signature>
auto op(const char *name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

void expect_equal(const Tensor &got, const Tensor &wanted) {
  EXPECT_EQ(got.device().type(), c10::DeviceType::PrivateUse1);
  EXPECT_TRUE(at::allclose(got.cpu(), wanted, 1e-5, 1e-6));
}

TEST(SimulatedDevice, RunsOperatorsUnderItsOwnKey) {
  const Tensor x = at::rand({5, 33});
  const int before = simulated::fallbacks();
  const Tensor y = op<Tensor(const Tensor &, std::int64_t, bool)>("flag_gems::softmax").call(on_device(x), 1, false);
  EXPECT_EQ(simulated::fallbacks(), before);
  expect_equal(y, at::softmax(x, 1));
}

TEST(SimulatedDevice, DifferentiatesThem) {
  const Tensor x = at::rand({5, 33}).set_requires_grad(true);
  const Tensor there = on_device(x.detach()).set_requires_grad(true);
  const Tensor grad = at::rand({5, 33});
  op<Tensor(const Tensor &, std::int64_t, bool)>("flag_gems::softmax").call(there, 1, false).backward(on_device(grad));
  at::softmax(x, 1).backward(grad);
  expect_equal(there.grad(), x.grad());
}

TEST(SimulatedDevice, HasItsAtenOperatorsReplacedAndGivenBack) {
  const Tensor x = at::rand({4, 9});
  const Tensor there = on_device(x);
  const int before = simulated::fallbacks();
  expect_equal(at::_softmax(there, 1, false), at::softmax(x, 1));
  EXPECT_EQ(simulated::fallbacks(), before + 1) << "the device has no softmax of its own";
  ASSERT_TRUE(flag_gems::enable_patch("_softmax", kKey));
  EXPECT_FALSE(flag_gems::enable_patch("_softmax", kKey));
  expect_equal(at::_softmax(there, 1, false), at::softmax(x, 1));
  EXPECT_EQ(simulated::fallbacks(), before + 1) << "the kernel of flag_gems took over";
  {
    // What a wrapper of ours calls itself goes to the kernel that was there before.
    flag_gems::InsideOperator inside;
    expect_equal(at::_softmax(there, 1, false), at::softmax(x, 1));
  }
  EXPECT_EQ(simulated::fallbacks(), before + 2);
  ASSERT_TRUE(flag_gems::disable_patch("_softmax"));
  expect_equal(at::_softmax(there, 1, false), at::softmax(x, 1));
  EXPECT_EQ(simulated::fallbacks(), before + 3);
}

}  // namespace
