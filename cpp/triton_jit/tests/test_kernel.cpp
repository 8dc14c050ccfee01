// SPDX-License-Identifier: Apache-2.0
// Launches, keys, races and errors of the run time, through real kernels.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "triton_jit/kernel.h"

using namespace triton_jit;

namespace {

thread_local bool counting = false;
thread_local long allocations = 0;

}  // namespace

// Every allocation of this program passes here, so that a hit can be shown to make none.
void *operator new(std::size_t bytes) {
  if (counting) ++allocations;
  if (void *memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace {

Argument floats(const std::vector<float> &x) { return Argument(x.data(), DType::fp32); }

void run_scaled(Kernel &kernel, const std::vector<float> &x, std::vector<float> &out, double factor) {
  static const Text *twice = intern("jit_kernels:twice");
  const auto n = static_cast<std::int64_t>(x.size());
  kernel({.grid = {static_cast<std::uint32_t>((n + 127) / 128)}}, floats(x), floats(out), n, factor, function(twice), 128);
}

TEST(Kernel, ComputesThroughAFunctionAndAFloat) {
  Kernel kernel("jit_kernels", "scaled");
  std::vector<float> x(1000), out(1000, -1.0f);
  for (int i = 0; i < 1000; ++i) x[i] = static_cast<float>(i);
  run_scaled(kernel, x, out, 0.5);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(out[i], static_cast<float>(i));
}

TEST(Kernel, IsCompiledOnceForEachSpecialisation) {
  Kernel kernel("jit_kernels", "scaled");
  std::vector<float> x(64, 1.0f), out(64);
  run_scaled(kernel, x, out, 1.0);
  run_scaled(kernel, x, out, 2.0);
  EXPECT_EQ(kernel.size(), 1u);
  std::vector<float> odd(63, 1.0f);
  run_scaled(kernel, odd, out, 2.0);  // n is no multiple of 16
  EXPECT_EQ(kernel.size(), 2u);
  std::vector<float> single(1, 1.0f);
  run_scaled(kernel, single, out, 3.0);  // n is 1: a constant
  EXPECT_EQ(kernel.size(), 3u);
  EXPECT_EQ(out[0], 6.0f);
}

TEST(Kernel, TellsDevicesApart) {
  Kernel kernel("jit_kernels", "fill");
  std::vector<std::int64_t> out(16);
  const Argument place(out.data(), DType::i64);
  kernel({.grid = {1}, .device = 0}, place, 16, 3, 16);
  kernel({.grid = {1}, .device = 1}, place, 16, 3, 16);
  EXPECT_EQ(kernel.size(), 2u);
}

TEST(Kernel, AHitAllocatesNothing) {
  Kernel kernel("jit_kernels", "scaled");
  std::vector<float> x(64, 1.0f), out(64);
  run_scaled(kernel, x, out, 1.0);
  allocations = 0;
  counting = true;
  run_scaled(kernel, x, out, 2.0);
  counting = false;
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(out[63], 4.0f);
}

TEST(Kernel, TakesConstantsOfEveryKind) {
  Kernel kernel("jit_kernels", "constants");
  float out = 0;
  const Argument place(&out, DType::fp32);
  kernel({}, place, intern("negative"), DType::fp32, true, 2.5, nullptr);
  EXPECT_EQ(out, 8.5f);
  kernel({}, place, intern("positive"), DType::i32, false, 7, 0);
  EXPECT_EQ(out, 7.0f);
  EXPECT_EQ(kernel.size(), 2u);
}

TEST(Kernel, TellsTrueFromOneAmongConstants) {
  Kernel kernel("jit_kernels", "fill");
  std::vector<std::int64_t> out(16);
  const Argument place(out.data(), DType::i64);
  kernel({}, place, 16, 1, 16);
  kernel({}, place, 16, true, 16);
  EXPECT_EQ(kernel.size(), 2u);
}

TEST(Kernel, KeepsEverySpecialisationItHasSeen) {
  Kernel kernel("jit_kernels", "fill");
  std::vector<std::int64_t> out(16);
  const Argument place(out.data(), DType::i64);
  for (int round = 0; round < 2; ++round)
    for (int value = 0; value < 40; ++value) {
      kernel({}, place, 16, value, 16);
      ASSERT_EQ(out[15], value);
    }
  EXPECT_EQ(kernel.size(), 40u);
}

TEST(Kernel, RacingFirstCallsCompileOnce) {
  Kernel kernel("jit_kernels", "scaled");
  std::vector<std::vector<float>> out(8, std::vector<float>(256));
  const std::vector<float> x(256, 3.0f);
  std::vector<std::thread> threads;
  for (auto &mine : out) threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) run_scaled(kernel, x, mine, 0.5);
    });
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(kernel.size(), 1u);
  for (const auto &mine : out) EXPECT_EQ(mine[255], 3.0f);
}

TEST(Kernel, ACompileErrorNamesTheKernelAndTheNextCallMayGoOn) {
  Kernel kernel("jit_kernels", "wrong");
  std::vector<float> x(16);
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      kernel({}, floats(x), 16);
      FAIL() << "the kernel calls a function that does not exist";
    } catch (const CompileError &error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("jit_kernels.wrong(x: *fp32 % 16, BLOCK: constexpr = 16)"), std::string::npos) << text;
      EXPECT_NE(text.find("no_such_function"), std::string::npos) << text;
    }
  }
  EXPECT_EQ(kernel.size(), 0u);
}

TEST(Kernel, RefusesWhatDoesNotFit) {
  Kernel absent("jit_kernels", "no_such_kernel");
  EXPECT_THROW(absent({}, 1), CompileError);
  Kernel kernel("jit_kernels", "fill");
  EXPECT_THROW(kernel({}, 1, 2), ArgumentError);
  Kernel other("jit_kernels", "fill", "out n VALUE");
  EXPECT_THROW(other({}, 1, 2, 3, 4), CompileError);
}

TEST(Kernel, AnEmptyGridLaunchesNothing) {
  Kernel kernel("jit_kernels", "wrong");
  std::vector<float> x(16);
  kernel({.grid = {0}}, floats(x), 16);
}

#ifdef TRITON_JIT_CPU
TEST(CpuBackend, SharesAGridAmongPrograms) {
  Kernel kernel("jit_kernels", "scaled");
  const std::vector<float> x(100'000, 1.5f);
  std::vector<float> out(x.size());
  run_scaled(kernel, x, out, 1.0);
  for (float value : out) ASSERT_EQ(value, 3.0f);
}
#endif

}  // namespace
