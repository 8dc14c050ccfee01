// SPDX-License-Identifier: Apache-2.0
// Launches a cached kernel without Python: launch LIBRARY NAME SCRATCH_BYTES.
// The kernel is weighted(x, out, n, factor) of test_shared_object.py; see docs/triton_cpu.md.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using Kernel = void (*)(const void *args, int32_t x, int32_t y, int32_t z, int32_t gx, int32_t gy,
                        int32_t gz, void *scratch);

// What kernels call back; a program that loads them supplies these.
extern "C" void triton_cpu_print(const char *text, int64_t bytes) { fwrite(text, 1, bytes, stdout); }

extern "C" void triton_cpu_fail(const char *text, int64_t bytes) {
  fwrite(text, 1, bytes, stderr);
  std::exit(1);
}

int main(int count, char **arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: launch LIBRARY NAME SCRATCH_BYTES\n");
    return 2;
  }
  void *library = dlopen(arguments[1], RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto kernel = reinterpret_cast<Kernel>(dlsym(library, arguments[2]));
  if (!kernel) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const int32_t n = 1000, block = 128, grid = (n + block - 1) / block;
  std::vector<float> x(n), out(n);
  for (int32_t i = 0; i < n; ++i) x[i] = -2.0f + 4.0f * i / (n - 1);

  uint64_t slots[4] = {};
  slots[0] = reinterpret_cast<uint64_t>(x.data());
  slots[1] = reinterpret_cast<uint64_t>(out.data());
  slots[2] = static_cast<uint64_t>(static_cast<int64_t>(n));
  const float factor = 1.5f;
  std::memcpy(&slots[3], &factor, sizeof factor);

  const size_t bytes = (std::strtoull(arguments[3], nullptr, 10) + 63) / 64 * 64;
  void *scratch = bytes ? std::aligned_alloc(64, bytes) : nullptr;
  for (int32_t program = 0; program < grid; ++program)
    kernel(slots, program, 0, 0, grid, 1, 1, scratch);
  std::free(scratch);
  for (float value : out) std::printf("%.9g\n", value);
  return 0;
}
