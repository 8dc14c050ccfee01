// SPDX-License-Identifier: Apache-2.0
// Exceptions of torch's C++ as torch's own Python functions raise them: IndexError, ValueError, and no C++ backtrace.
#pragma once

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

namespace flag_gems {

// For this module alone: torch registers the same, which only modules of torch's own pybind11 version see.
inline void raise_as_torch_does() {
  pybind11::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const c10::Error &) {
      torch::translate_exception_to_python(thrown);
    }
  });
}

}  // namespace flag_gems
