// SPDX-License-Identifier: Apache-2.0
#include "pointwise.h"

#include <ATen/TensorIterator.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry.h"

namespace flag_gems {

namespace {

#ifdef TRITON_JIT_CPU
constexpr std::int64_t kFlat = 4096;
#else
constexpr std::int64_t kFlat = 1024;
#endif
// As in flag_gems/runtime/pointwise/launch.py, where the reasons stand.
constexpr int kFlatWarps = 4, kTileWarps = 8;
constexpr std::int64_t kLargeTile = 4096, kSquare = 64, kSmallTile = 256;
constexpr int kSlots = 4, kDims = 4;

constexpr const char *kModule = "flag_gems.runtime.pointwise.kernels";

Kernel &flat_kernel() {
  static Kernel kernel(kModule, "flat_kernel",
                       "p0 p1 p2 p3 q0 q1 q2 q3 out count FUNCTION COMPUTE SLOTS ONES ALIGNED BLOCK");
  return kernel;
}

Kernel &tiled_kernel() {
  static Kernel kernel(kModule, "tiled_kernel",
                       "p0 p1 p2 p3 q0 q1 q2 q3 out n1 n2 n3 a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3 d0 d1 d2 d3 "
                       "o0 o1 o2 o3 FUNCTION COMPUTE SLOTS WIDE BLOCK_2 BLOCK_3");
  return kernel;
}

Kernel &indexed_kernel() {
  static Kernel kernel(kModule, "indexed_kernel",
                       "p0 p1 p2 p3 q0 q1 q2 q3 out count n1 n2 n3 a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3 d0 d1 d2 d3 "
                       "o0 o1 o2 o3 FUNCTION COMPUTE SLOTS BLOCK");
  return kernel;
}

const at::Tensor *tensor_of(const Operand &operand) { return std::get_if<at::Tensor>(&operand); }

// A number as the kernels take it, for a computation in `dtype`.
Argument encode(const c10::Scalar &value, at::ScalarType dtype) {
  if (dtype == at::kDouble) return Argument(std::bit_cast<std::int64_t>(value.to<double>()));
  if (is_floating(dtype)) {
    const double wide = value.to<double>();
    constexpr double kLargest = std::numeric_limits<float>::max();
    return Argument(std::isfinite(wide) && std::abs(wide) > kLargest ? std::copysign(HUGE_VAL, wide) : wide);
  }
  if (dtype == at::kBool) return Argument(std::int64_t{value.toBool()});
  if (value.isFloatingPoint()) return Argument(static_cast<std::int64_t>(value.toDouble()));
  return Argument(static_cast<std::int64_t>(value.toLong()));
}

// The arguments of one launch that its kernels share: p0..p3, q0..q3 and out, then what each kernel adds.
struct Arguments {
  Argument all[Kernel::kMostArguments];
  int count = 0;
  void add(Argument argument) { all[count++] = argument; }
};

struct Call {
  const at::Tensor &out;
  Function function;
  DType compute;
  std::int64_t slots;
  Arguments arguments;  // p0..p3, q0..q3, out

  void finish(Arguments &given) const {
    given.add(triton_jit::function(function));
    given.add(Argument(compute));
    given.add(Argument(slots));
  }
};

void launch_flat(const Call &call, std::int64_t count, std::int64_t ones) {
  Arguments given = call.arguments;
  given.add(count);
  call.finish(given);
  given.add(ones);
  given.add(count % 16 == 0);
  given.add(kFlat);
  flat_kernel().run(launch(call.out, {static_cast<std::uint32_t>(divide_up(count, kFlat))}, kFlatWarps), given.all, given.count);
}

// Sizes and strides, slowest first, in the order in which the result lies in memory.
struct Walk {
  Numbers sizes;
  std::array<Numbers, kSlots + 1> strides;
};

bool is_one_row(const Numbers &own) { return own.empty() || (own.size() == 1 && (own[0] == 1 || own[0] == 0)); }

// False where every tensor is one dense row or one element.
bool walk(at::IntArrayRef shape, const std::array<Numbers, kSlots + 1> &given, Walk &result) {
  const Numbers &target = given[kSlots];
  Numbers order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return target[a] > target[b]; });
  for (const std::int64_t dim : order) {
    result.sizes.push_back(shape[dim]);
    for (int t = 0; t <= kSlots; ++t) result.strides[t].push_back(given[t][dim]);
  }
  auto &s = result.strides;
  coalesce(result.sizes, {&s[0], &s[1], &s[2], &s[3], &s[4]});
  const bool rows = std::all_of(s.begin(), s.end(), is_one_row);
  if (rows && (s[kSlots].empty() || s[kSlots][0] == 1)) return false;
  // The last two dimensions make a tile: the result's fastest, and before it the longest along which an operand runs.
  const auto rank = static_cast<std::int64_t>(result.sizes.size());
  std::int64_t chosen = -1;
  for (std::int64_t dim = 0; dim + 1 < rank; ++dim) {
    const bool crosses = std::any_of(s.begin(), s.end(), [&](const Numbers &own) { return own[dim] == 1; });
    if (crosses && (chosen < 0 || result.sizes[dim] > result.sizes[chosen])) chosen = dim;
  }
  if (chosen >= 0) {
    const auto move = [&](Numbers &numbers) { std::rotate(numbers.begin() + chosen, numbers.begin() + chosen + 1, numbers.end() - 1); };
    move(result.sizes);
    for (Numbers &own : s) move(own);
  }
  return true;
}

// `first` is the first of the four dimensions that the kernels walk.
void launch_strided(const Call &call, const Walk &walk, std::int64_t first) {
  std::array<std::int64_t, kDims> n;
  std::array<std::array<std::int64_t, kDims>, kSlots + 1> steps;
  for (int i = 0; i < kDims; ++i) {
    const std::int64_t dim = first + i;
    n[i] = dim < 0 ? 1 : walk.sizes[dim];
    for (int t = 0; t <= kSlots; ++t) steps[t][i] = dim < 0 ? 0 : walk.strides[t][dim];
  }
  const bool crossing = std::any_of(steps.begin(), steps.end(), [&](const auto &own) { return own[2] == 1 && n[2] > 1 && own[3] != 1; });
  const std::int64_t block_3 = std::min(next_power_of_2(n[3]), crossing ? kSquare : 1024);
  const std::int64_t block_2 = std::min(next_power_of_2(n[2]), std::max<std::int64_t>(kLargeTile / block_3, 1));
  const bool indexed = block_2 * block_3 < kSmallTile && n[0] * n[1] > 64;
  const std::int64_t count = n[0] * n[1] * n[2] * n[3];
  Arguments given = call.arguments;
  if (indexed) given.add(count);
  for (int i = 1; i < kDims; ++i) given.add(n[i]);
  for (const auto &own : steps)
    for (const std::int64_t step : own) given.add(step);
  call.finish(given);
  if (indexed) {
    given.add(kFlat);
    indexed_kernel().run(launch(call.out, {static_cast<std::uint32_t>(divide_up(count, kFlat))}, kFlatWarps), given.all, given.count);
    return;
  }
  std::int64_t reach = 0;
  for (const auto &own : steps) reach = std::max(reach, (n[2] - 1) * std::abs(own[2]) + (n[3] - 1) * std::abs(own[3]));
  given.add(reach >= std::int64_t{1} << 31);
  given.add(block_2);
  given.add(block_3);
  const std::int64_t programs = n[0] * n[1] * divide_up(n[2], block_2) * divide_up(n[3], block_3);
  tiled_kernel().run(launch(call.out, {static_cast<std::uint32_t>(programs)}, kTileWarps), given.all, given.count);
}

void shift(Argument &pointer, std::int64_t elements, std::int64_t bytes) {
  if (pointer.kind == triton_jit::Kind::pointer) pointer.pointer = static_cast<const char *>(pointer.pointer) + elements * bytes;
}

}  // namespace

bool fit(std::initializer_list<const Operand *> operands) {
  const at::Tensor *first = nullptr;
  for (const Operand *operand : operands) {
    const at::Tensor *tensor = tensor_of(*operand);
    if (!tensor) {
      if (std::get<c10::Scalar>(*operand).isComplex()) return false;
      continue;
    }
    if (!is_real(tensor->scalar_type()) || !is_readable(*tensor)) return false;
    if (first && tensor->device() != first->device()) return false;
    if (!first) first = tensor;
  }
  return true;
}

at::ScalarType promoted(const Operand &a, const Operand &b) {
  const at::Tensor *left = tensor_of(a), *right = tensor_of(b);
  if (left && right) {
    if (left->scalar_type() == right->scalar_type()) return left->scalar_type();
    return at::native::result_type(*left, *right);
  }
  return left ? at::native::result_type(*left, std::get<c10::Scalar>(b)) : at::native::result_type(*right, std::get<c10::Scalar>(a));
}

at::Tensor new_result(const Operand &a, const Operand &b, at::ScalarType dtype) {
  const at::Tensor *left = tensor_of(a), *right = tensor_of(b);
  const at::Tensor &first = left ? *left : *right;
  const bool alone = !left || !right;
  if (first.is_contiguous() && (alone || (right->sizes() == first.sizes() && right->is_contiguous())))
    return empty(first.sizes(), dtype, first);
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false).declare_static_dtype_and_device(dtype, first.device()).add_owned_output(at::Tensor());
  config.add_owned_const_input(first);
  if (!alone) config.add_owned_const_input(*right);
  return config.build().output();
}

void check_result(const at::Tensor &out, const Operand &a, const Operand &b, at::ScalarType dtype, bool in_place) {
  TORCH_CHECK(c10::canCast(dtype, out.scalar_type()), "result type ", dtype, " can't be cast to the desired output type ",
              out.scalar_type());
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false).set_check_mem_overlap(true).resize_outputs(!in_place).add_owned_output(out);
  for (const Operand *operand : {&a, &b})
    if (const at::Tensor *tensor = tensor_of(*operand)) config.add_owned_const_input(*tensor);
  config.build();
}

void apply(Function function, std::initializer_list<Operand> operands, const at::Tensor &out, at::ScalarType compute) {
  if (!out.numel()) return;
  Call call{out, function, compute_dtype(compute), static_cast<std::int64_t>(operands.size()), {}};
  std::array<const at::Tensor *, kSlots> tensors{};
  std::array<Argument, kSlots> pointers, numbers;
  bool flat = out.is_contiguous();
  std::int64_t ones = 0;
  int slot = 0;
  for (const Operand &operand : operands) {
    if (const at::Tensor *tensor = tensor_of(operand)) {
      tensors[slot] = tensor;
      pointers[slot] = argument(*tensor);
      if (tensor->numel() == 1) ones |= std::int64_t{1} << slot;
      else flat = flat && tensor->is_contiguous() && tensor->sizes() == out.sizes();
    } else {
      numbers[slot] = encode(std::get<c10::Scalar>(operand), compute);
    }
    ++slot;
  }
  for (const Argument &pointer : pointers) call.arguments.add(pointer);
  for (const Argument &number : numbers) call.arguments.add(number);
  call.arguments.add(argument(out));
  const auto scope = on_device(out);
  if (flat) return launch_flat(call, out.numel(), ones);

  std::array<Numbers, kSlots + 1> strides;
  for (int t = 0; t < kSlots; ++t) {
    if (!tensors[t] || ones >> t & 1) strides[t].assign(out.dim(), 0);
    else {
      const at::Tensor wide = tensors[t]->expand(out.sizes());
      strides[t].assign(wide.strides().begin(), wide.strides().end());
    }
  }
  strides[kSlots].assign(out.strides().begin(), out.strides().end());
  Walk found;
  if (!walk(out.sizes(), strides, found)) {
    std::int64_t single = 0;
    for (int t = 0; t < kSlots; ++t)
      if (tensors[t] && std::all_of(strides[t].begin(), strides[t].end(), [](std::int64_t step) { return step == 0; }))
        single |= std::int64_t{1} << t;
    // Slots without a tensor count as single, as in Python: one kernel then serves both.
    for (int t = 0; t < kSlots; ++t)
      if (!tensors[t]) single |= std::int64_t{1} << t;
    return launch_flat(call, out.numel(), single);
  }
  const std::int64_t first = static_cast<std::int64_t>(found.sizes.size()) - kDims;
  if (first <= 0) return launch_strided(call, found, first);
  // One launch for each place in the dimensions that the kernels do not walk.
  Numbers place(first, 0);
  const Call origin = call;
  while (true) {
    call.arguments = origin.arguments;
    for (int t = 0; t <= kSlots; ++t) {
      std::int64_t elements = 0;
      for (std::int64_t dim = 0; dim < first; ++dim) elements += place[dim] * found.strides[t][dim];
      Argument &pointer = call.arguments.all[t == kSlots ? 2 * kSlots : t];
      shift(pointer, elements, static_cast<std::int64_t>(t == kSlots ? out.element_size() : tensors[t] ? tensors[t]->element_size() : 0));
    }
    launch_strided(call, found, first);
    std::int64_t dim = first - 1;
    while (dim >= 0 && ++place[dim] == found.sizes[dim]) place[dim--] = 0;
    if (dim < 0) return;
  }
}

}  // namespace flag_gems
