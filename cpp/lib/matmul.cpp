// SPDX-License-Identifier: Apache-2.0
// mm, bmm and addmm: kernels of flag_gems/ops/matmul_kernels.py, read through pointers. The tiling of a product is asked
// of flag_gems/ops/matmul_plan.py, which reads the tuned files, once for each geometry.
#include <ATen/Context.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>

#include <bit>
#include <sstream>

#include "flag_gems/operators.h"
#include "geometry.h"
#include "native.h"
#include "tensor.h"
#include "triton_jit/python.h"
#include "triton_jit/table.h"

namespace flag_gems {

namespace {

// Offsets from here on are computed in 64 bits; half of what 32 bits hold, for tiles that stick out.
constexpr std::int64_t kFar = std::int64_t{1} << 30;

Kernel &product() {
  static Kernel kernel("flag_gems.ops.matmul_kernels", "product",
                       "a b bias out M N K chunk a_batch a_row a_column b_batch b_row b_column bias_batch bias_row "
                       "bias_column out_batch out_row out_column alpha beta HAS_BIAS SCALED WIDE EVEN_M EVEN_N EVEN_K "
                       "SPLIT WIDEN PRECISION ACCUMULATE BLOCK_M BLOCK_N BLOCK_K GROUP");
  return kernel;
}

Kernel &join_parts() {
  static Kernel kernel("flag_gems.ops.matmul_kernels", "join_parts",
                       "parts bias out count batches M N bias_batch bias_row bias_column out_batch out_row out_column "
                       "alpha beta HAS_BIAS SCALED ACCUMULATE BLOCK_M BLOCK_N");
  return kernel;
}

struct Tiling {
  std::int64_t m = 0, n = 0, k = 0, group = 8, splits = 1;
  int warps = 4, stages = 3;
  const triton_jit::Text *precision = nullptr;
};

// n: rows are contiguous, t: columns are, s: neither, or rows not aligned to 16 bytes (flag_gems/ops/matmul_plan.py).
char letter(const at::Tensor &tensor) {
  const auto sizes = tensor.sizes(), strides = tensor.strides();
  const auto last = tensor.dim() - 1;
  bool aligned = reinterpret_cast<std::uintptr_t>(tensor.unsafeGetTensorImpl()->data()) % 16 == 0;
  const auto bytes = static_cast<std::int64_t>(tensor.element_size());
  for (const std::int64_t step : strides) aligned &= step == 1 || step * bytes % 16 == 0;
  if (!aligned) return 's';
  if (strides[last] == 1 && strides[last - 1] >= sizes[last]) return 'n';
  return strides[last - 1] == 1 && strides[last] >= sizes[last - 1] ? 't' : 's';
}

const Tiling &tiling(const at::Tensor &a, const at::Tensor &b, std::int64_t batches, std::int64_t m, std::int64_t n,
                     std::int64_t k) {
  static triton_jit::Table<Tiling> known;
  const char layout[3] = {letter(a), letter(b), 0};
  triton_jit::Key key;
  key.add(static_cast<std::uint64_t>(a.scalar_type()) << 32 | static_cast<std::uint64_t>(layout[0]) << 8 |
          static_cast<std::uint64_t>(layout[1]));
  key.add(static_cast<std::uint64_t>(a.device().index()));
  for (const std::int64_t size : {batches, m, n, k}) key.add(static_cast<std::uint64_t>(size));
  const std::uint64_t hash = key.hash();
  if (const Tiling *found = known.find(key, hash)) return *found;
  InsideOperator inside;
  std::vector<std::string> arguments = {std::string(c10::toString(a.scalar_type())), layout};
  for (const std::int64_t size : {batches, m, n, k}) arguments.push_back(std::to_string(size));
  std::istringstream answer(triton_jit::call_python("flag_gems.runtime.cpp_plans", "product", arguments));
  Tiling tile;
  std::string precision;
  answer >> tile.m >> tile.n >> tile.k >> tile.warps >> tile.stages >> tile.group >> tile.splits >> precision;
  if (!answer) throw triton_jit::Error("flag_gems: no tiling for a product");
  tile.precision = triton_jit::intern(precision);
  return *known.insert(key, hash, tile);
}

struct Strides {
  std::int64_t batch, row, column;
  explicit Strides(const at::Tensor &tensor) {
    const auto all = tensor.strides();
    const auto rank = tensor.dim();
    batch = rank == 3 ? all[0] : 0;
    row = all[rank - 2];
    column = all[rank - 1];
  }
};

std::int64_t reach(const at::Tensor &tensor) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) sum += (tensor.size(i) - 1) * tensor.stride(i);
  return sum;
}

const triton_jit::Text *precision_of(const at::Tensor &a, const Tiling &tile) {
  static const triton_jit::Text *ieee = triton_jit::intern("ieee"), *tf32 = triton_jit::intern("tf32");
  if (a.scalar_type() != at::kFloat) return ieee;
  return a.is_cuda() && at::globalContext().allowTF32CuBLAS() ? tf32 : tile.precision;
}

// out = beta * bias + alpha * (a @ b); bias, where defined, has the shape of out. out is not empty.
void launch_product(const at::Tensor &a, const at::Tensor &b, const at::Tensor &out, const at::Tensor &bias, double alpha,
                    double beta) {
  const std::int64_t batches = a.dim() == 3 ? a.size(0) : 1;
  const std::int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  const Tiling &tile = tiling(a, b, batches, m, n, k);
  const std::int64_t tiles = divide_up(m, tile.m) * divide_up(n, tile.n) * batches;
  const std::int64_t chunk = tile.splits == 1 ? k : divide_up(divide_up(k, tile.k), tile.splits) * tile.k;
  const std::int64_t splits = divide_up(k, chunk);
  const bool has_bias = bias.defined(), is_scaled = alpha != 1 || beta != 1, is_double = a.scalar_type() == at::kDouble;
  const at::Tensor &added = has_bias ? bias : out;
  const Strides sa(a), sb(b), so(out), sbias(added);
  const auto scale = [&](double value) { return is_double ? Argument(std::bit_cast<std::int64_t>(value)) : Argument(value); };
  const auto bias_step = [&](std::int64_t step) { return has_bias ? step : 0; };
  const DType accumulate = compute_dtype(a.scalar_type());
  const bool wide = reach(a) >= kFar || reach(b) >= kFar || reach(out) >= kFar || (has_bias && reach(bias) >= kFar);
  at::Tensor parts = out;
  if (splits > 1) parts = empty({splits, batches, m, n}, accumulate_dtype(a.scalar_type()), a);
  const bool finish = splits == 1;
  product()(launch(a, {static_cast<std::uint32_t>(tiles), static_cast<std::uint32_t>(splits)}, tile.warps, tile.stages),
            argument(a), argument(b), argument(added), argument(parts), m, n, k, chunk, sa.batch, sa.row, sa.column,
            sb.batch, sb.row, sb.column, bias_step(sbias.batch), bias_step(sbias.row), bias_step(sbias.column), so.batch,
            so.row, so.column, scale(alpha), scale(beta), has_bias, is_scaled, wide, m % tile.m == 0, n % tile.n == 0,
            k % tile.k == 0 && chunk * splits == k, !finish, false, precision_of(a, tile), accumulate, tile.m, tile.n,
            tile.k, tile.group);
  if (finish) return;
  constexpr std::int64_t kJoinRows = 4, kJoinColumns = 256;
  const std::int64_t programs = divide_up(m, kJoinRows) * divide_up(n, kJoinColumns) * batches;
  join_parts()(launch(a, {static_cast<std::uint32_t>(programs)}, 4), argument(parts), argument(added), argument(out), splits,
               batches, m, n, bias_step(sbias.batch), bias_step(sbias.row), bias_step(sbias.column), so.batch, so.row,
               so.column, scale(alpha), scale(beta), has_bias, is_scaled, accumulate, kJoinRows, kJoinColumns);
}

bool fits_kernel(const at::Tensor &a, const at::Tensor &b) {
  return is_floating(a.scalar_type()) && a.scalar_type() == b.scalar_type() && is_readable(a) && is_readable(b) &&
         a.device() == b.device();
}

void check_matrices(const char *op, const at::Tensor &a, const at::Tensor &b) {
  TORCH_CHECK(a.dim() == 2, op, ": the first factor must be a matrix, it has ", a.dim(), " dimensions");
  TORCH_CHECK(b.dim() == 2, op, ": the second factor must be a matrix, it has ", b.dim(), " dimensions");
  TORCH_CHECK(a.size(1) == b.size(0), op, ": mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x", a.size(1),
              " and ", b.size(0), "x", b.size(1), ")");
}

void check_batches(const at::Tensor &a, const at::Tensor &b) {
  TORCH_CHECK(a.dim() == 3 && b.dim() == 3, "bmm: batch1 and batch2 must be 3D tensors");
  TORCH_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1), "bmm: shapes ", a.sizes(), " and ", b.sizes(),
              " cannot be multiplied");
}

// a @ b into an `out` of the right shape that nothing else lies in.
void multiply(const at::Tensor &a, const at::Tensor &b, at::Tensor out) {
  if (!out.numel()) return;
  if (a.size(-1) == 0) {
    out.zero_();
    return;
  }
  const auto scope = on_device(a);
  launch_product(a, b, out, {}, 1, 1);
}

bool separate(const at::Tensor &out, std::initializer_list<const at::Tensor *> inputs) {
  for (const at::Tensor *input : inputs)
    if (out.storage().unsafeGetStorageImpl() == input->storage().unsafeGetStorageImpl()) return false;
  return at::has_internal_overlap(out) == at::MemOverlap::No;
}

// Runs `compute` on out itself, or on a new tensor whose values out then takes.
template <class Compute>
at::Tensor &into(at::Tensor &out, at::IntArrayRef shape, const at::Tensor &a, std::initializer_list<const at::Tensor *> inputs,
                 Compute compute) {
  TORCH_CHECK(out.scalar_type() == a.scalar_type() && out.device() == a.device(), "out has dtype ", out.scalar_type(), " on ",
              out.device(), ", the result has ", a.scalar_type(), " on ", a.device());
  at::native::resize_output(out, shape);
  if (separate(out, inputs)) {
    compute(out);
  } else {
    at::Tensor result = empty(shape, a.scalar_type(), a);
    compute(result);
    out.copy_(result);
  }
  return out;
}

void add_product(const at::Tensor &input, const at::Tensor &a, const at::Tensor &b, double beta, double alpha,
                 const at::Tensor &out) {
  if (!out.numel()) return;
  if (a.size(1) == 0 || alpha == 0) {
    // Without a product there is only beta * input; beta 0 must not let a NaN of input through.
    InsideOperator inside;
    if (beta == 0) out.zero_();
    else out.copy_(input.expand(out.sizes())).mul_(beta);
    return;
  }
  const auto scope = on_device(a);
  if (beta == 0) launch_product(a, b, out, {}, alpha, 1);
  else launch_product(a, b, out, input.expand(out.sizes()), alpha, beta);
}

bool fits_sum(const at::Tensor &input, const at::Tensor &a, const at::Tensor &b, const at::Scalar &beta,
              const at::Scalar &alpha) {
  return fits_kernel(a, b) && input.scalar_type() == a.scalar_type() && is_readable(input) && input.device() == a.device() &&
         !beta.isComplex() && !alpha.isComplex();
}

}  // namespace

at::Tensor mm_tensor(const at::Tensor &input, const at::Tensor &mat2) {
  check_matrices("mm", input, mat2);
  if (!fits_kernel(input, mat2)) {
    Native native("mm", "dtype, layout or device");
    return at::mm(input, mat2);
  }
  at::Tensor out = empty({input.size(0), mat2.size(1)}, input.scalar_type(), input);
  multiply(input, mat2, out);
  return out;
}

at::Tensor &mm_out_tensor(const at::Tensor &input, const at::Tensor &mat2, at::Tensor &out) {
  check_matrices("mm", input, mat2);
  if (!fits_kernel(input, mat2)) {
    Native native("mm", "dtype, layout or device");
    return at::mm_out(out, input, mat2);
  }
  return into(out, {input.size(0), mat2.size(1)}, input, {&input, &mat2},
              [&](const at::Tensor &to) { multiply(input, mat2, to); });
}

at::Tensor bmm(const at::Tensor &input, const at::Tensor &mat2) {
  check_batches(input, mat2);
  if (!fits_kernel(input, mat2)) {
    Native native("bmm", "dtype, layout or device");
    return at::bmm(input, mat2);
  }
  at::Tensor out = empty({input.size(0), input.size(1), mat2.size(2)}, input.scalar_type(), input);
  multiply(input, mat2, out);
  return out;
}

at::Tensor &bmm_out(const at::Tensor &input, const at::Tensor &mat2, at::Tensor &out) {
  check_batches(input, mat2);
  if (!fits_kernel(input, mat2)) {
    Native native("bmm", "dtype, layout or device");
    return at::bmm_out(out, input, mat2);
  }
  return into(out, {input.size(0), input.size(1), mat2.size(2)}, input, {&input, &mat2},
              [&](const at::Tensor &to) { multiply(input, mat2, to); });
}

at::Tensor addmm(const at::Tensor &input, const at::Tensor &mat1, const at::Tensor &mat2, const at::Scalar &beta,
                 const at::Scalar &alpha) {
  check_matrices("addmm", mat1, mat2);
  if (!fits_sum(input, mat1, mat2, beta, alpha)) {
    Native native("addmm", "dtype, layout, device or scale");
    return at::addmm(input, mat1, mat2, beta, alpha);
  }
  at::Tensor out = empty({mat1.size(0), mat2.size(1)}, mat1.scalar_type(), mat1);
  add_product(input, mat1, mat2, beta.toDouble(), alpha.toDouble(), out);
  return out;
}

at::Tensor &addmm_out(const at::Tensor &input, const at::Tensor &mat1, const at::Tensor &mat2, const at::Scalar &beta,
                      const at::Scalar &alpha, at::Tensor &out) {
  check_matrices("addmm", mat1, mat2);
  if (!fits_sum(input, mat1, mat2, beta, alpha)) {
    Native native("addmm", "dtype, layout, device or scale");
    return at::addmm_out(out, input, mat1, mat2, beta, alpha);
  }
  return into(out, {mat1.size(0), mat2.size(1)}, mat1, {&input, &mat1, &mat2}, [&](const at::Tensor &to) {
    add_product(input, mat1, mat2, beta.toDouble(), alpha.toDouble(), to);
  });
}

}  // namespace flag_gems
