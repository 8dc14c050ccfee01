// SPDX-License-Identifier: Apache-2.0
#include "native.h"

#include <atomic>
#include <mutex>

namespace flag_gems {

thread_local int InsideOperator::depth = 0;

namespace {
std::mutex mutex;
std::atomic<std::int64_t> total{0};
std::map<std::pair<std::string, std::string>, std::int64_t> counts;
}  // namespace

Native::Native(const char *op, const char *reason) {
  std::lock_guard lock(mutex);
  ++counts[{op, reason}];
  ++total;
}

std::map<std::pair<std::string, std::string>, std::int64_t> native_calls() {
  std::lock_guard lock(mutex);
  return counts;
}

std::int64_t native_count() { return total.load(std::memory_order_relaxed); }

}  // namespace flag_gems
