// SPDX-License-Identifier: Apache-2.0
// The way to torch's own kernel for what a kernel of ours does not take; each use is counted with its reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace flag_gems {

// While one lives, ATen calls of this thread reach torch's own kernels, also where aten_patch replaced them.
class InsideOperator {
 public:
  InsideOperator() { ++depth; }
  ~InsideOperator() { --depth; }
  InsideOperator(const InsideOperator &) = delete;
  InsideOperator &operator=(const InsideOperator &) = delete;
  static bool now() { return depth > 0; }

 private:
  static thread_local int depth;
};

// Counts that `op` went to torch, and keeps the replacements of ATen out of the way until the end of the call.
class Native : InsideOperator {
 public:
  Native(const char *op, const char *reason);
};

// (operator, reason) -> how often.
std::map<std::pair<std::string, std::string>, std::int64_t> native_calls();
// Their sum, cheap to ask before and after a call.
std::int64_t native_count();

}  // namespace flag_gems
