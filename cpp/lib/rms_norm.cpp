// SPDX-License-Identifier: Apache-2.0
// rms_norm and its gradients: kernels of flag_gems/fused/rms_norm.py.
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>

#include "flag_gems/operators.h"
#include "geometry.h"
#include "native.h"
#include "tensor.h"

namespace flag_gems {

namespace {

// Row groups of the weight's gradient, as in Python.
constexpr std::int64_t kRowGroups = 64;

Kernel &forward() {
  static Kernel kernel("flag_gems.fused.rms_norm", "rms_norm_kernel",
                       "x weight out inverse rows columns eps HAS_WEIGHT KEEP BLOCK_M BLOCK_N WHOLE COMPUTE");
  return kernel;
}

Kernel &input_gradient() {
  static Kernel kernel("flag_gems.fused.rms_norm", "rms_norm_input_gradient_kernel",
                       "grad x weight inverse grad_x rows columns HAS_WEIGHT BLOCK_M BLOCK_N COMPUTE");
  return kernel;
}

Kernel &weight_gradient() {
  static Kernel kernel("flag_gems.fused.rms_norm", "rms_norm_weight_gradient_kernel",
                       "grad x inverse partial rows columns rows_per_program BLOCK_M BLOCK_N COMPUTE");
  return kernel;
}

void check(const at::Tensor &x, const at::Tensor &weight) {
  const auto rank = weight.dim();
  TORCH_CHECK_VALUE(rank > 0 && x.dim() >= rank && x.sizes().slice(x.dim() - rank) == weight.sizes(),
                    "rms_norm: x of shape ", x.sizes(), " does not end in the weight's shape ", weight.sizes());
  for (const at::Tensor *tensor : {&x, &weight})
    TORCH_CHECK_TYPE(is_floating(tensor->scalar_type()), "rms_norm: ", tensor->scalar_type(), " is not a floating dtype");
  TORCH_CHECK(x.device() == weight.device(), "rms_norm: x is on ", x.device(), ", weight on ", weight.device());
}

// A tensor whose memory is its values in order.
at::Tensor plain(const at::Tensor &tensor) {
  if (tensor.is_contiguous() && !tensor.is_neg()) return tensor;
  InsideOperator inside;
  return tensor.resolve_neg().contiguous();
}

at::Tensor run(const at::Tensor &given, const at::Tensor &given_weight, double eps, at::Tensor *inverse) {
  check(given, given_weight);
  const at::Tensor x = plain(given), weight = plain(given_weight);
  at::Tensor out = empty(x.sizes(), x.scalar_type(), x);
  const std::int64_t columns = weight.numel(), rows = columns ? x.numel() / columns : 0;
  if (inverse) *inverse = empty({rows}, accumulate_dtype(x.scalar_type()), x);
  if (!x.numel()) return out;
  const Tile tile = row_tile(rows, columns, true);
  const auto scope = on_device(x);
  forward()(launch(x, {static_cast<std::uint32_t>(divide_up(rows, tile.rows))}, warps(tile.rows * tile.columns)),
            argument(x), argument(weight), argument(out), argument(inverse ? *inverse : out), rows, columns, eps, true,
            inverse != nullptr, tile.rows, tile.columns, tile.columns >= columns, compute_dtype(x.scalar_type()));
  return out;
}

}  // namespace

at::Tensor rms_norm(const at::Tensor &input, const at::Tensor &weight, double eps) { return run(input, weight, eps, nullptr); }

std::tuple<at::Tensor, at::Tensor> rms_norm_forward(const at::Tensor &input, const at::Tensor &weight, double eps) {
  at::Tensor inverse;
  at::Tensor out = run(input, weight, eps, &inverse);
  return {out, inverse};
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor &given_grad, const at::Tensor &given_input,
                                                     const at::Tensor &given_weight, const at::Tensor &inverse) {
  check(given_input, given_weight);
  TORCH_CHECK(given_grad.sizes() == given_input.sizes(), "rms_norm_backward: grad has shape ", given_grad.sizes(),
              ", the input ", given_input.sizes());
  const at::Tensor grad = plain(given_grad), x = plain(given_input), weight = plain(given_weight);
  at::Tensor grad_x = empty(x.sizes(), x.scalar_type(), x);
  InsideOperator inside;
  if (!x.numel()) return {grad_x, at::zeros_like(weight)};
  const std::int64_t columns = weight.numel(), rows = inverse.numel();
  const DType compute = compute_dtype(x.scalar_type());
  const auto scope = on_device(x);
  Tile tile = row_tile(rows, columns, true);
  input_gradient()(launch(x, {static_cast<std::uint32_t>(divide_up(rows, tile.rows))}, warps(tile.rows * tile.columns)),
                   argument(grad), argument(x), argument(weight), argument(inverse), argument(grad_x), rows, columns, true,
                   tile.rows, tile.columns, compute);
  tile = row_tile(rows, columns, false);
  const std::int64_t groups = std::min(divide_up(rows, tile.rows), kRowGroups);
  at::Tensor partial = empty({groups, columns}, inverse.scalar_type(), x);
  weight_gradient()(launch(x, {static_cast<std::uint32_t>(divide_up(columns, tile.columns)), static_cast<std::uint32_t>(groups)},
                           warps(tile.rows * tile.columns)),
                    argument(grad), argument(x), argument(inverse), argument(partial), rows, columns,
                    divide_up(rows, groups), tile.rows, tile.columns, compute);
  return {grad_x, partial.sum(0).to(weight.scalar_type()).view(weight.sizes())};
}

}  // namespace flag_gems
