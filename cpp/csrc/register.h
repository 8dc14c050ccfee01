// SPDX-License-Identifier: Apache-2.0
// The operators as torch's dispatcher sees them. A program with a device of its own may implement them for its key too.
#pragma once

#include <torch/library.h>

namespace flag_gems {

// Schemas, once a process: TORCH_LIBRARY(flag_gems, m) { flag_gems::define(m); }
void define(torch::Library &library);

// Kernels for the library's dispatch key: TORCH_LIBRARY_IMPL(flag_gems, CPU, m) { flag_gems::implement(m); }
void implement(torch::Library &library);

// Derivatives, on the key Autograd.
void implement_autograd(torch::Library &library);

}  // namespace flag_gems
