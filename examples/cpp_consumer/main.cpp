// SPDX-License-Identifier: Apache-2.0
// Calls Triton kernels from a plain C++ main. A kernel that is not in Triton's cache is compiled by a Python that the run
// time starts by itself; with the cache filled, the rest of the program never touches Python.
#include <ATen/ATen.h>

#include <cstdio>

#include "flag_gems/operators.h"

int main() {
#ifdef TRITON_JIT_CPU  // set by the target FlagGems::operators, as TRITON_JIT_CUDA and so on
  const c10::Device device(c10::DeviceType::CPU);
#else
  const c10::Device device(c10::DeviceType::CUDA, 0);
#endif
  const at::Tensor x = at::arange(12, at::TensorOptions(at::kFloat).device(device)).view({3, 4}) / 4;
  const at::Tensor y = flag_gems::softmax(x, -1);
  const double difference = (y - at::softmax(x, -1)).abs().max().item<double>();
  const at::Tensor sums = y.sum(-1).cpu();
  std::printf("softmax on %s: rows sum to %.6f %.6f %.6f, largest difference from torch %.1e\n", x.device().str().c_str(),
              sums[0].item<double>(), sums[1].item<double>(), sums[2].item<double>(), difference);
  return difference < 1e-6 ? 0 : 1;
}
