// SPDX-License-Identifier: Apache-2.0
// What can go wrong between a launch and the device.
#pragma once

#include <stdexcept>
#include <string>

namespace triton_jit {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Triton refused the kernel; the text has the kernel's name, the signature and Triton's message. The next call compiles anew.
struct CompileError : Error {
  using Error::Error;
};

// The device or its driver refused to load or to run a kernel.
struct LaunchError : Error {
  using Error::Error;
};

// The arguments do not fit the kernel: their number, or a kind that Triton does not take.
struct ArgumentError : Error {
  using Error::Error;
};

}  // namespace triton_jit
