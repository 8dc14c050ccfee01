// SPDX-License-Identifier: Apache-2.0
// softmax and its backward: kernels of flag_gems/ops/softmax.py.
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>

#include "flag_gems/operators.h"
#include "geometry.h"
#include "native.h"
#include "tensor.h"

namespace flag_gems {

namespace {

Kernel &forward() {
  static Kernel kernel("flag_gems.ops.softmax", "softmax_kernel",
                       "x out rows columns inner x_outer x_inner x_step out_outer out_inner out_step "
                       "BLOCK_M BLOCK_N WHOLE COMPUTE");
  return kernel;
}

Kernel &backward() {
  static Kernel kernel("flag_gems.ops.softmax", "softmax_backward_kernel",
                       "grad y out rows columns inner grad_outer grad_inner grad_step y_outer y_inner y_step "
                       "out_outer out_inner out_step BLOCK_M BLOCK_N WHOLE COMPUTE");
  return kernel;
}

// A tensor without dimensions is one row of one element.
at::Tensor at_least_1d(const at::Tensor &tensor) { return tensor.dim() ? tensor : tensor.view({1}); }

struct Rows {
  Grid2 grid;
  std::array<std::int64_t, 3> step;
};

std::optional<Rows> rows_of(std::initializer_list<const at::Tensor *> tensors, std::int64_t dim) {
  const at::Tensor &first = **tensors.begin();
  const Numbers sizes = without(first.sizes(), dim);
  Rows rows{};
  std::array<Numbers, 3> strides;
  std::size_t count = 0;
  for (const at::Tensor *tensor : tensors) {
    rows.step[count] = tensor->stride(dim);
    strides[count++] = without(tensor->strides(), dim);
  }
  const auto grid = count == 2 ? grid2(sizes, {strides[0], strides[1]}) : grid2(sizes, {strides[0], strides[1], strides[2]});
  if (!grid) return std::nullopt;
  rows.grid = *grid;
  return rows;
}

}  // namespace

at::Tensor softmax(const at::Tensor &input, std::int64_t dim, bool half_to_float) {
  const at::ScalarType dtype = half_to_float ? at::kFloat : input.scalar_type();
  dim = wrap_dim(dim, input.dim());
  if (!is_floating(dtype) || !is_real(input.scalar_type()) || !is_readable(input) ||
      (half_to_float && input.scalar_type() != at::kHalf)) {
    Native native("softmax", "dtype or layout");
    return at::_softmax(input, dim, half_to_float);
  }
  at::Tensor out = empty(input.sizes(), dtype, input);
  if (!out.numel()) return out;
  at::Tensor x = at_least_1d(input);
  const at::Tensor to = at_least_1d(out);
  auto rows = rows_of({&x, &to}, dim);
  if (!rows) {
    InsideOperator inside;
    x = x.contiguous();
    rows = rows_of({&x, &to}, dim);
  }
  const std::int64_t columns = to.size(dim), count = rows->grid.size();
  const Tile tile = row_tile(count, columns, rows->step[0] == 1 || columns == 1);
  const auto scope = on_device(x);
  forward()(launch(x, {static_cast<std::uint32_t>(divide_up(count, tile.rows))}, warps(tile.rows * tile.columns)),
            argument(x), argument(to), count, columns, rows->grid.inner_size, rows->grid.outer[0], rows->grid.inner[0],
            rows->step[0], rows->grid.outer[1], rows->grid.inner[1], rows->step[1], tile.rows, tile.columns,
            tile.columns >= columns, compute_dtype(c10::promoteTypes(input.scalar_type(), dtype)));
  return out;
}

at::Tensor softmax_backward(const at::Tensor &grad_output, const at::Tensor &output, std::int64_t dim,
                            at::ScalarType input_dtype) {
  dim = wrap_dim(dim, output.dim());
  if (grad_output.sizes() != output.sizes() || grad_output.scalar_type() != output.scalar_type() ||
      !is_floating(output.scalar_type()) || !is_floating(input_dtype) || !is_readable(grad_output) ||
      !is_readable(output)) {
    Native native("softmax_backward", "arguments");
    return at::_softmax_backward_data(grad_output, output, dim, input_dtype);
  }
  at::Tensor out = empty(output.sizes(), input_dtype, output);
  if (!out.numel()) return out;
  at::Tensor grad = at_least_1d(grad_output), y = at_least_1d(output);
  const at::Tensor to = at_least_1d(out);
  auto rows = rows_of({&grad, &y, &to}, dim);
  if (!rows) {
    InsideOperator inside;
    grad = grad.contiguous();
    y = y.contiguous();
    rows = rows_of({&grad, &y, &to}, dim);
  }
  const Grid2 &grid = rows->grid;
  const std::int64_t columns = to.size(dim), count = grid.size();
  const Tile tile = row_tile(count, columns, rows->step[0] == 1 || columns == 1);
  const auto scope = on_device(y);
  backward()(launch(y, {static_cast<std::uint32_t>(divide_up(count, tile.rows))}, warps(tile.rows * tile.columns)),
             argument(grad), argument(y), argument(to), count, columns, grid.inner_size, grid.outer[0], grid.inner[0],
             rows->step[0], grid.outer[1], grid.inner[1], rows->step[1], grid.outer[2], grid.inner[2], rows->step[2],
             tile.rows, tile.columns, tile.columns >= columns,
             compute_dtype(c10::promoteTypes(output.scalar_type(), input_dtype)));
  return out;
}

}  // namespace flag_gems
