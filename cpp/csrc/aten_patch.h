// SPDX-License-Identifier: Apache-2.0
// Replaces torch's own kernels of ATen operators, one by one, while the program runs.
#pragma once

#include <c10/core/DispatchKey.h>

#include <string>
#include <vector>

namespace flag_gems {

// Names of the operators that can be replaced, as in torch.ops.aten: "mm", "sum.dim_IntList". A name without an overload
// stands for all overloads of that operator.
std::vector<std::string> patchable();
std::vector<std::string> patched();

// Replaces torch's kernels for `key`. Answers false where that was done before.
// Throws c10::ValueError for a name that is not patchable.
bool enable_patch(const std::string &name, c10::DispatchKey key);
// Gives the operator back to torch. Answers false where it was not replaced.
bool disable_patch(const std::string &name);

}  // namespace flag_gems
