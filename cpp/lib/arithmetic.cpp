// SPDX-License-Identifier: Apache-2.0
// add, sub, mul, the divisions, remainder and fill: device functions of flag_gems/ops/{add,mul,div,fill}.py.
#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/fill.h>
#include <ATen/ops/floor_divide.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/sub.h>
#include <c10/core/DefaultDtype.h>

#include "flag_gems/operators.h"
#include "native.h"
#include "pointwise.h"

namespace flag_gems {

namespace {

using at::Scalar;
using at::Tensor;

struct Rule {
  const char *name;
  Function function;
  bool to_floating = false;  // integers compute in the default dtype
  bool takes_bool = true;
};

at::ScalarType computed(const Rule &rule, const Operand &a, const Operand &b) {
  const at::ScalarType dtype = promoted(a, b);
  return rule.to_floating && !c10::isFloatingType(dtype) ? c10::typeMetaToScalarType(c10::get_default_dtype()) : dtype;
}

// torch looks for zeros among integer divisors on the CPU, where that costs no synchronisation.
bool divides_by_zero(at::ScalarType dtype, const Operand &b) {
  if (kDevice != c10::DeviceType::CPU || c10::isFloatingType(dtype)) return false;
  if (const Tensor *tensor = std::get_if<Tensor>(&b)) {
    InsideOperator inside;
    return tensor->numel() > 0 && tensor->eq(0).any().item<bool>();
  }
  return std::get<Scalar>(b).equal(0);
}

bool fits_factor(at::ScalarType dtype, const Scalar &alpha) {
  if (alpha.isComplex()) return false;
  if (alpha.isBoolean()) return dtype == at::kBool;
  return alpha.isIntegral(false) || c10::isFloatingType(dtype);
}

// a and b into `out`, or into a new tensor; `native` is torch's own way, taken where the kernels do not fit.
template <class Native_>
Tensor binary(const Rule &rule, const Operand &a, const Operand &b, const Scalar *alpha, const Tensor *out, bool in_place,
              Native_ native) {
  const auto leave = [&](const char *reason) {
    Native counted(rule.name, reason);
    return native();
  };
  if (!fit({&a, &b})) return leave("dtype, layout or device");
  const at::ScalarType dtype = computed(rule, a, b);
  if (alpha && !fits_factor(dtype, *alpha)) return leave("alpha");
  if (!rule.takes_bool && dtype == at::kBool) return leave("dtype bool");
  Tensor result;
  if (out) {
    if (!is_real(out->scalar_type()) || !is_readable(*out)) return leave("dtype or layout of out");
    check_result(*out, a, b, dtype, in_place);
    result = *out;
  } else {
    result = new_result(a, b, dtype);
  }
  if (alpha) apply(rule.function, {a, b, *alpha}, result, dtype);
  else apply(rule.function, {a, b}, result, dtype);
  return result;
}

template <class Native_>
Tensor whole(const Rule &rule, const Operand &a, const Operand &b, const Tensor *out, bool in_place, Native_ native) {
  if (fit({&a, &b}) && divides_by_zero(promoted(a, b), b)) {
    Native counted(rule.name, "integer division by zero");
    return native();
  }
  return binary(rule, a, b, nullptr, out, in_place, native);
}

const Rule &plus() { static const Rule rule{"add", triton_jit::intern("flag_gems.ops.add:_plus")}; return rule; }
const Rule &minus() { static const Rule rule{"sub", triton_jit::intern("flag_gems.ops.add:_minus"), false, false}; return rule; }
const Rule &times() { static const Rule rule{"mul", triton_jit::intern("flag_gems.ops.mul:_times")}; return rule; }
const Rule &quotient() { static const Rule rule{"div", triton_jit::intern("flag_gems.ops.div:_quotient"), true}; return rule; }
const Rule &truncated() { static const Rule rule{"div", triton_jit::intern("flag_gems.ops.div:_trunc"), false, false}; return rule; }
const Rule &floored() { static const Rule rule{"div", triton_jit::intern("flag_gems.ops.div:_floor"), false, false}; return rule; }
const Rule &rest() { static const Rule rule{"remainder", triton_jit::intern("flag_gems.ops.div:_remainder"), false, false}; return rule; }
Function identity() { static const Function text = triton_jit::intern("flag_gems.runtime.pointwise.launch:identity"); return text; }

bool fits_value(at::ScalarType dtype, const Scalar &value) {
  if (value.isComplex()) return false;
  if (c10::isFloatingType(dtype) || dtype == at::kBool) return true;
  if (dtype == at::kLong) return value.isIntegral(true);
  const double wide = value.toDouble(), bits = 8.0 * static_cast<double>(c10::elementSize(dtype));
  const double most = dtype == at::kByte ? 255 : std::exp2(bits - 1) - 1, least = dtype == at::kByte ? -255 : -most - 1;
  return wide >= least && wide <= most;
}

bool fits_fill(const Tensor &self) { return is_real(self.scalar_type()) && is_readable(self) && is_dense(self); }

}  // namespace

Tensor add_tensor(const Tensor &a, const Tensor &b, const Scalar &alpha) {
  return binary(plus(), a, b, &alpha, nullptr, false, [&] { return at::add(a, b, alpha); });
}
Tensor add_scalar(const Tensor &a, const Scalar &b, const Scalar &alpha) {
  return binary(plus(), a, b, &alpha, nullptr, false, [&] { return at::add(a, b, alpha); });
}
Tensor &add_tensor_inplace(Tensor &a, const Tensor &b, const Scalar &alpha) {
  binary(plus(), a, b, &alpha, &a, true, [&] { return a.add_(b, alpha); });
  return a;
}
Tensor &add_scalar_inplace(Tensor &a, const Scalar &b, const Scalar &alpha) {
  binary(plus(), a, b, &alpha, &a, true, [&] { return a.add_(b, alpha); });
  return a;
}
Tensor &add_out(const Tensor &a, const Tensor &b, const Scalar &alpha, Tensor &out) {
  binary(plus(), a, b, &alpha, &out, false, [&] { return at::add_out(out, a, b, alpha); });
  return out;
}

Tensor sub_tensor(const Tensor &a, const Tensor &b, const Scalar &alpha) {
  return binary(minus(), a, b, &alpha, nullptr, false, [&] { return at::sub(a, b, alpha); });
}
Tensor &sub_tensor_inplace(Tensor &a, const Tensor &b, const Scalar &alpha) {
  binary(minus(), a, b, &alpha, &a, true, [&] { return a.sub_(b, alpha); });
  return a;
}

Tensor mul_tensor(const Tensor &a, const Tensor &b) {
  return binary(times(), a, b, nullptr, nullptr, false, [&] { return at::mul(a, b); });
}
Tensor mul_scalar(const Tensor &a, const Scalar &b) {
  return binary(times(), a, b, nullptr, nullptr, false, [&] { return at::mul(a, b); });
}
Tensor &mul_tensor_inplace(Tensor &a, const Tensor &b) {
  binary(times(), a, b, nullptr, &a, true, [&] { return a.mul_(b); });
  return a;
}

Tensor true_div(const Tensor &a, const Tensor &b) {
  return binary(quotient(), a, b, nullptr, nullptr, false, [&] { return at::div(a, b); });
}
Tensor &true_div_(Tensor &a, const Tensor &b) {
  binary(quotient(), a, b, nullptr, &a, true, [&] { return a.div_(b); });
  return a;
}
Tensor trunc_div(const Tensor &a, const Tensor &b) {
  return whole(truncated(), a, b, nullptr, false, [&] { return at::div(a, b, "trunc"); });
}
Tensor &trunc_div_(Tensor &a, const Tensor &b) {
  whole(truncated(), a, b, &a, true, [&] { return a.div_(b, "trunc"); });
  return a;
}
Tensor floor_div(const Tensor &a, const Tensor &b) {
  return whole(floored(), a, b, nullptr, false, [&] { return at::floor_divide(a, b); });
}
Tensor &floor_div_(Tensor &a, const Tensor &b) {
  whole(floored(), a, b, &a, true, [&] { return a.floor_divide_(b); });
  return a;
}

namespace {
void check_mode(const std::string &mode) {
  TORCH_CHECK(mode == "trunc" || mode == "floor", "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
              mode, "'");
}
}  // namespace

Tensor div_mode(const Tensor &a, const Tensor &b, const std::optional<std::string> &mode) {
  if (!mode) return true_div(a, b);
  check_mode(*mode);
  return *mode == "trunc" ? trunc_div(a, b) : floor_div(a, b);
}
Tensor &div_mode_(Tensor &a, const Tensor &b, const std::optional<std::string> &mode) {
  if (!mode) return true_div_(a, b);
  check_mode(*mode);
  return *mode == "trunc" ? trunc_div_(a, b) : floor_div_(a, b);
}

Tensor remainder_tt(const Tensor &a, const Tensor &b) {
  return whole(rest(), a, b, nullptr, false, [&] { return at::remainder(a, b); });
}
Tensor remainder_ts(const Tensor &a, const Scalar &b) {
  return whole(rest(), a, b, nullptr, false, [&] { return at::remainder(a, b); });
}
Tensor remainder_st(const Scalar &a, const Tensor &b) {
  return whole(rest(), a, b, nullptr, false, [&] { return at::remainder(a, b); });
}
Tensor &remainder_(Tensor &a, const Tensor &b) {
  whole(rest(), a, b, &a, true, [&] { return a.remainder_(b); });
  return a;
}

Tensor &fill_scalar_(Tensor &self, const Scalar &value) {
  if (!fits_fill(self) || !fits_value(self.scalar_type(), value)) {
    Native native("fill", "value, dtype or layout");
    return self.fill_(value);
  }
  apply(identity(), {value}, self, self.scalar_type());
  return self;
}
Tensor &fill_tensor_(Tensor &self, const Tensor &value) {
  if (!fits_fill(self) || value.dim() || !is_real(value.scalar_type()) || !is_readable(value)) {
    Native native("fill", "value, dtype or layout");
    return self.fill_(value);
  }
  // A value on the host beside a device is a number; on the device it is read there.
  if (value.device() != self.device()) return fill_scalar_(self, value.item());
  apply(identity(), {value}, self, value.scalar_type());
  return self;
}
Tensor fill_scalar(const Tensor &self, const Scalar &value) {
  InsideOperator inside;
  Tensor out = at::empty_like(self);
  return fill_scalar_(out, value);
}
Tensor fill_tensor(const Tensor &self, const Tensor &value) {
  InsideOperator inside;
  Tensor out = at::empty_like(self);
  return fill_tensor_(out, value);
}

}  // namespace flag_gems
