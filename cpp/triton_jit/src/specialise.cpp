// SPDX-License-Identifier: Apache-2.0
#include "triton_jit/specialise.h"

#include <array>
#include <bit>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "triton_jit/errors.h"

namespace triton_jit {

namespace {

constexpr std::array<std::string_view, 17> kNames = {
    "u1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
    "fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"};

bool fits_int32(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

Code code_of_integer(std::int64_t value, bool specialise, bool align) {
  if (specialise && value == 1) return code::one;
  Code result = fits_int32(value) ? code::i32 : code::i64;
  return specialise && align && value % 16 == 0 ? result | code::aligned : result;
}

Code code_of_unsigned(std::uint64_t value, bool specialise, bool align) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return code_of_integer(static_cast<std::int64_t>(value), specialise, align);
  return specialise && align && value % 16 == 0 ? code::u64 | code::aligned : code::u64;
}

// The attribute that an annotated parameter keeps: its type is the annotation's whatever the value.
Code code_of_annotated(Code plain) {
  if (plain == code::one || plain == code::u1 || plain == code::fp32 || plain == code::none) return code::annotated_other;
  return plain & code::aligned ? code::annotated | code::aligned : code::annotated;
}

// To nearest even.
std::uint16_t bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

std::string_view dtype_name(DType dtype) { return kNames[static_cast<std::size_t>(dtype)]; }

const Text *intern(std::string_view value) {
  static std::mutex mutex;
  // Never destroyed: interned texts are used by statics of other libraries.
  static auto &texts = *new std::unordered_map<std::string, Text>;
  std::lock_guard lock(mutex);
  auto [found, added] = texts.try_emplace(std::string(value));
  if (added) found->second.value = found->first;
  return &found->second;
}

Code specialise(const Parameter &parameter, const Argument &argument) {
  if (parameter.is_constant) {
    if (argument.kind == Kind::pointer) throw ArgumentError("a tensor is no constant: parameter " + parameter.name);
    return code::constant + static_cast<Code>(argument.kind);
  }
  if (parameter.plain_annotation) return code::annotated_plain;
  Code plain = code::none;
  switch (argument.kind) {
    case Kind::pointer: {
      const bool aligned = parameter.specialise && parameter.align && argument.bits % 16 == 0;
      plain = code::pointer + 2 * static_cast<Code>(argument.dtype) + (aligned ? code::aligned : 0);
      break;
    }
    case Kind::integer: plain = code_of_integer(argument.integer, parameter.specialise, parameter.align); break;
    case Kind::unsigned_integer: plain = code_of_unsigned(argument.bits, parameter.specialise, parameter.align); break;
    case Kind::boolean: plain = code::u1; break;
    case Kind::real: plain = code::fp32; break;
    case Kind::none: plain = code::none; break;
    default: throw ArgumentError("a text, dtype or function is a constant only: parameter " + parameter.name);
  }
  return parameter.annotation.empty() ? plain : code_of_annotated(plain);
}

Specialisation describe(const Parameter &parameter, Code code) {
  if (code >= code::constant && code < code::pointer) return {"constexpr", "-"};
  if (code == code::annotated_plain) return {parameter.annotation, "-"};
  const std::string attribute = code & code::aligned ? "D" : "";
  if (code == code::annotated_other) return {parameter.annotation, "-"};
  if (code == code::annotated || code == (code::annotated | code::aligned))
    return {parameter.annotation, !parameter.specialise ? "-" : code == code::annotated ? "" : "D"};
  if (code >= code::pointer) {
    std::string type = parameter.is_const ? "*k" : "*";
    type += dtype_name(static_cast<DType>((code - code::pointer) / 2));
    return {type, parameter.specialise ? attribute : "-"};
  }
  switch (code) {
    case code::one:
    case code::none: return {"constexpr", "-"};
    case code::u1: return {"u1", "-"};
    case code::fp32: return {"fp32", "-"};
    default: break;
  }
  const Code base = code & ~code::aligned;
  return {base == code::i32 ? "i32" : base == code::i64 ? "i64" : "u64", parameter.specialise ? attribute : "-"};
}

Slot slot_of(const Specialisation &specialisation) {
  const std::string &type = specialisation.type;
  if (type == "constexpr") return Slot::skip;
  if (type == "fp32") return Slot::fp32;
  if (type == "fp64") return Slot::fp64;
  if (type == "fp16") return Slot::fp16;
  if (type == "bf16") return Slot::bf16;
  return Slot::word;
}

std::uint64_t slot_value(const Argument &argument, Slot slot) {
  if (slot == Slot::word) return argument.bits;
  double value = argument.real;
  if (argument.kind == Kind::integer || argument.kind == Kind::boolean) value = static_cast<double>(argument.integer);
  if (argument.kind == Kind::unsigned_integer) value = static_cast<double>(argument.bits);
  switch (slot) {
    case Slot::fp32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Slot::fp64: return std::bit_cast<std::uint64_t>(value);
    case Slot::fp16: return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    default: return bfloat16(static_cast<float>(value));
  }
}

}  // namespace triton_jit
