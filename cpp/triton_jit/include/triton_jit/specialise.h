// SPDX-License-Identifier: Apache-2.0
// Triton's rules of specialisation: which type and which attribute an argument gets (triton/runtime/jit.py and the
// native_specialize_impl behind it). tests/specialisation.py compares them with the installed Triton's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "triton_jit/argument.h"

namespace triton_jit {

// What the kernel's source says of one parameter; read once from Python.
struct Parameter {
  std::string name;
  bool is_constant = false;  // annotated tl.constexpr
  bool specialise = true;    // not in do_not_specialize
  bool align = true;         // not in do_not_specialize_on_alignment
  bool is_const = false;     // a pointer to const
  std::string annotation;    // Triton's type where the annotation names one, else empty
  bool plain_annotation = false;  // one of those (fp*, bf*, u1) whose values are never specialised
};

// A byte that stands for type and attribute of one argument. Equal bytes (and, for constants, equal values) of every
// parameter mean one compiled kernel.
using Code = std::uint8_t;

namespace code {
inline constexpr Code one = 0x01, i32 = 0x02, i64 = 0x04, u64 = 0x06, u1 = 0x08, fp32 = 0x09, none = 0x0a;
inline constexpr Code annotated_plain = 0x0b, annotated_other = 0x0c, annotated = 0x0e;
inline constexpr Code constant = 0x10;  // + Kind
inline constexpr Code pointer = 0x40;   // + 2 * DType
inline constexpr Code aligned = 0x01;   // added to i32, i64, u64, annotated and pointer
constexpr bool has_value(Code value) { return value >= constant && value < pointer; }
}  // namespace code

// The code of `argument` for `parameter`. Throws ArgumentError for a kind that Triton cannot pass.
Code specialise(const Parameter &parameter, const Argument &argument);

// Type and attribute in Triton's words, for the compiler and for messages.
struct Specialisation {
  std::string type;       // "*fp32", "i32", "constexpr"
  std::string attribute;  // "D", "", or "-" where Triton has None or a value
};
Specialisation describe(const Parameter &parameter, Code code);

// How a launch passes one argument: in the low bytes of an 8-byte slot.
enum class Slot : std::uint8_t { skip, word, fp32, fp64, fp16, bf16 };
Slot slot_of(const Specialisation &specialisation);
std::uint64_t slot_value(const Argument &argument, Slot slot);

}  // namespace triton_jit
