// SPDX-License-Identifier: Apache-2.0
// The operators of flag_gems as plain C++ functions, below torch's dispatcher: no autograd, no Python once a kernel is
// compiled. Tensors live on the device of the back end; shapes, dtypes and errors are those of the function of the same
// name in Python (docs/operators.md) unless said otherwise.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace flag_gems {

// exp(input) / exp(input).sum(dim). half_to_float: a float16 input gives a float32 result.
at::Tensor softmax(const at::Tensor &input, std::int64_t dim, bool half_to_float = false);
at::Tensor softmax_backward(const at::Tensor &grad_output, const at::Tensor &output, std::int64_t dim,
                            at::ScalarType input_dtype);

// x / sqrt(mean(x * x) + eps) * weight over the trailing dimensions that weight has. The forward of training also gives the
// reciprocal root mean square of each row, which the backward wants: (gradient of input, gradient of weight).
at::Tensor rms_norm(const at::Tensor &input, const at::Tensor &weight, double eps = 1e-5);
std::tuple<at::Tensor, at::Tensor> rms_norm_forward(const at::Tensor &input, const at::Tensor &weight, double eps);
std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor &grad, const at::Tensor &input,
                                                     const at::Tensor &weight, const at::Tensor &inverse);

// Products. Factors are floating, of one dtype and any strides; other dtypes go to torch. float16 and bfloat16 are summed in
// float32; float32 is exact unless torch allows TensorFloat-32.
at::Tensor mm_tensor(const at::Tensor &input, const at::Tensor &mat2);
at::Tensor &mm_out_tensor(const at::Tensor &input, const at::Tensor &mat2, at::Tensor &out);
at::Tensor bmm(const at::Tensor &input, const at::Tensor &mat2);
at::Tensor &bmm_out(const at::Tensor &input, const at::Tensor &mat2, at::Tensor &out);
// beta * input + alpha * (mat1 @ mat2); input is not read where beta is 0.
at::Tensor addmm(const at::Tensor &input, const at::Tensor &mat1, const at::Tensor &mat2, const at::Scalar &beta = 1,
                 const at::Scalar &alpha = 1);
at::Tensor &addmm_out(const at::Tensor &input, const at::Tensor &mat1, const at::Tensor &mat2, const at::Scalar &beta,
                      const at::Scalar &alpha, at::Tensor &out);

}  // namespace flag_gems
