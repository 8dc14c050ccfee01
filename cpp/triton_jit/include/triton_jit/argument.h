// SPDX-License-Identifier: Apache-2.0
// One argument of a kernel launch, as the caller gives it: a tagged 16-byte value, built without allocation.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace triton_jit {

// Element types by Triton's names; the order is that of the names in dtype_name.
enum class DType : std::uint8_t {
  u1, i8, i16, i32, i64, u8, u16, u32, u64, fp8e4nv, fp8e5, fp8e4b8, fp8e5b16, fp16, bf16, fp32, fp64,
};

// Triton's name of an element type: "fp32", "i64", "u1" for bool.
std::string_view dtype_name(DType dtype);

// A text that lives as long as the process; equal texts are one object, so a pointer identifies it.
struct Text {
  std::string_view value;
};

// The one object of a text. Takes a lock: call it once, from a static, not at each launch.
const Text *intern(std::string_view value);

enum class Kind : std::uint8_t { none, boolean, integer, unsigned_integer, real, pointer, text, dtype, function };

struct Argument {
  Kind kind = Kind::none;
  DType dtype = DType::u1;  // of what a pointer points at, or the value of Kind::dtype
  union {
    std::int64_t integer = 0;
    std::uint64_t bits;
    double real;
    const void *pointer;
    const Text *text;
  };

  Argument() = default;
  Argument(std::nullptr_t) {}
  Argument(std::same_as<bool> auto value) : kind(Kind::boolean) { integer = value; }
  template <std::signed_integral T>
  Argument(T value) : kind(Kind::integer) { integer = value; }
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Argument(T value) : kind(Kind::unsigned_integer) { bits = value; }
  Argument(std::floating_point auto value) : kind(Kind::real) { real = value; }
  Argument(DType value) : kind(Kind::dtype), dtype(value) { integer = static_cast<int>(value); }
  // A constant of type str.
  Argument(const Text *value) : kind(Kind::text) { text = value; }
  Argument(const void *address, DType element) : kind(Kind::pointer), dtype(element) { pointer = address; }
};

// A @triton.jit function as the value of a constant: intern("module:name").
inline Argument function(const Text *module_and_name) {
  Argument argument(module_and_name);
  argument.kind = Kind::function;
  return argument;
}

}  // namespace triton_jit
