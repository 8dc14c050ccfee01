// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: promotion and results as torch has them, kernels of flag_gems/runtime/pointwise.
#pragma once

#include <c10/core/Scalar.h>

#include <optional>
#include <variant>

#include "tensor.h"

namespace flag_gems {

// A tensor, or a number.
using Operand = std::variant<at::Tensor, c10::Scalar>;

// A jitted function of the operands and then the numbers: "flag_gems.ops.add:_plus".
using Function = const triton_jit::Text *;

// Whether the kernels take these operands; if not, torch does.
bool fit(std::initializer_list<const Operand *> operands);

// torch's result_type of one or two operands.
at::ScalarType promoted(const Operand &a, const Operand &b);

// The broadcast shape of the tensors among the operands, laid out as torch would.
at::Tensor new_result(const Operand &a, const Operand &b, at::ScalarType dtype);

// Throws torch's errors where `out` cannot take the result: shape, dtype, overlap. Resizes it unless it is an operand.
void check_result(const at::Tensor &out, const Operand &a, const Operand &b, at::ScalarType dtype, bool in_place);

// Writes function(operands..., numbers...) of each element into `out`, whose elements share no memory. One to four operands
// in all; values are computed for the dtype `compute`.
void apply(Function function, std::initializer_list<Operand> operands, const at::Tensor &out, at::ScalarType compute);

}  // namespace flag_gems
