// SPDX-License-Identifier: Apache-2.0
#include "backend_cpu.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "triton_jit/cpu.h"
#include "triton_jit/errors.h"

namespace triton_jit {

namespace {

constexpr int kAbiVersion = 1;

// Below so much estimated work, waking the other threads costs more than it saves.
constexpr std::int64_t kSerialNanoseconds = 15'000;

// Programs are handed out in so many pieces a thread.
constexpr std::uint64_t kChunksPerThread = 8;

// The text of the first failing assertion of a launch. Launches of several threads share it, as kernels call back
// without a context: each of them then reports the failure.
struct Failure {
  std::atomic<bool> happened{false};
  std::mutex mutex;
  std::string text;
} failure;

std::atomic<int (*)()> thread_count{nullptr};

// Parses TRITON_CPU_THREADS once: it wins over what the program says, as it does in Python.
int threads() {
  static const int given = [] {
    const char *text = std::getenv("TRITON_CPU_THREADS");
    return text ? std::atoi(text) : 0;
  }();
  if (given > 0) return given;
  int (*count)() = thread_count.load(std::memory_order_relaxed);
  return count ? count() : 1;
}

// The OpenMP of this process, which is torch's: two pools of threads would compete for the CPU.
using Parallel = void (*)(void (*)(void *), void *, unsigned, unsigned);
Parallel parallel() {
  static const auto found = reinterpret_cast<Parallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  return found;
}

void *scratch_of_thread(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  struct Block {
    void *memory = nullptr;
    std::size_t size = 0;
    ~Block() { std::free(memory); }
  };
  thread_local Block block;
  if (block.size < bytes) {
    std::free(block.memory);
    block.size = (bytes + 63) / 64 * 64;
    block.memory = std::aligned_alloc(64, block.size);
    if (!block.memory) throw std::bad_alloc();
  }
  return block.memory;
}

struct Work {
  const CpuBackend::Function &function;
  const Grid &grid;
  const std::uint64_t *slots;
  std::uint64_t total = 0;
  std::uint64_t chunk = 1;
  std::atomic<std::uint64_t> next{0};

  void programs(std::uint64_t from, std::uint64_t to, void *scratch) {
    std::uint32_t x = from % grid.x, y = from / grid.x % grid.y, z = from / grid.x / grid.y;
    for (std::uint64_t i = from; i < to; ++i) {
      function.program(slots, x, y, z, grid.x, grid.y, grid.z, scratch);
      if (failure.happened.load(std::memory_order_relaxed)) return;
      if (++x < grid.x) continue;
      x = 0;
      if (++y < grid.y) continue;
      y = 0;
      ++z;
    }
  }

  void take() {
    void *scratch = scratch_of_thread(function.scratch_bytes);
    while (!failure.happened.load(std::memory_order_relaxed)) {
      const std::uint64_t from = next.fetch_add(chunk, std::memory_order_relaxed);
      if (from >= total) return;
      programs(from, std::min(from + chunk, total), scratch);
    }
  }
};

[[noreturn]] void report(const CpuBackend::Function &function) {
  std::lock_guard lock(failure.mutex);
  const std::string text = failure.text;
  failure.text.clear();
  failure.happened.store(false);
  throw LaunchError("kernel " + function.name + ": " + text);
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Kernels look for these two by name; a library that Python loaded keeps its names to itself until asked.
void offer_own_symbols() {
  static std::once_flag once;
  std::call_once(once, [] {
    Dl_info own;
    if (dladdr(reinterpret_cast<void *>(&set_cpu_thread_count), &own)) dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  });
}

}  // namespace

void set_cpu_thread_count(int (*count)()) { thread_count.store(count); }

CpuBackend::Function CpuBackend::load(const Binary &binary) {
  if (binary.number("abi_version", 0) != kAbiVersion)
    throw LaunchError("triton_jit: " + binary.path + " has another binary interface than " +
                      std::to_string(kAbiVersion));
  offer_own_symbols();
  void *library = dlopen(binary.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw LaunchError(std::string("triton_jit: ") + dlerror());
  auto program = reinterpret_cast<Program>(dlsym(library, binary.name.c_str()));
  if (!program) throw LaunchError(std::string("triton_jit: ") + dlerror());
  return {program, static_cast<std::size_t>(binary.number("scratch_bytes", 0)), binary.name};
}

void CpuBackend::launch(const Function &function, const Grid &grid, Stream, std::uint64_t *slots, int) {
  Work work{function, grid, slots};
  work.total = std::uint64_t{grid.x} * grid.y * grid.z;
  int count = 1;
  if (work.total == 1 || !parallel() || (count = threads()) <= 1) {
    work.programs(0, work.total, scratch_of_thread(function.scratch_bytes));
  } else {
    // The first program tells what the rest will cost.
    const std::int64_t before = now();
    void *scratch = scratch_of_thread(function.scratch_bytes);
    work.programs(0, 1, scratch);
    const std::uint64_t rest = work.total - 1;
    if ((now() - before) * static_cast<std::int64_t>(rest) < kSerialNanoseconds) {
      if (!failure.happened.load(std::memory_order_relaxed)) work.programs(1, work.total, scratch);
    } else {
      work.next = 1;
      work.chunk = std::max<std::uint64_t>(rest / (count * kChunksPerThread), 1);
      const auto thread = [](void *shared) { static_cast<Work *>(shared)->take(); };
      parallel()(thread, &work, static_cast<unsigned>(std::min<std::uint64_t>(rest, count)), 0);
    }
  }
  if (failure.happened.load(std::memory_order_relaxed)) [[unlikely]] report(function);
}

}  // namespace triton_jit

extern "C" {

__attribute__((visibility("default"))) void triton_cpu_print(const char *text, std::int64_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(STDOUT_FILENO, text, static_cast<std::size_t>(bytes));
    if (done <= 0) return;
    text += done;
    bytes -= done;
  }
}

__attribute__((visibility("default"))) void triton_cpu_fail(const char *text, std::int64_t bytes) {
  std::lock_guard lock(triton_jit::failure.mutex);
  if (triton_jit::failure.text.empty()) triton_jit::failure.text.assign(text, static_cast<std::size_t>(bytes));
  triton_jit::failure.happened.store(true);
}
}
