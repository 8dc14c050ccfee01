// SPDX-License-Identifier: Apache-2.0
// A @triton.jit function that C++ launches:
//
//   static triton_jit::Kernel softmax("flag_gems.ops.softmax", "softmax_kernel");
//   softmax({.grid = {rows}, .num_warps = 4, .stream = stream}, Argument(x, DType::fp32), ..., 128, true);
//
// Arguments are in the order of the Python function's parameters, constants included. A hit takes no lock, allocates
// nothing and touches no Python.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "triton_jit/argument.h"
#include "triton_jit/backend.h"
#include "triton_jit/errors.h"
#include "triton_jit/specialise.h"

namespace triton_jit {

struct Launch {
  Grid grid;
  int num_warps = 4;
  int num_stages = 3;
  int num_ctas = 1;
  int device = 0;  // the current device; part of the key
  Stream stream = nullptr;
};

class Kernel {
 public:
  static constexpr int kMostArguments = 64;

  // `parameters`, where given, are the names that the caller relies on, separated by spaces: a kernel whose parameters
  // are others is refused at its first launch, with both lists.
  Kernel(std::string module, std::string name, std::string parameters = "");
  ~Kernel();
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;

  // Throws CompileError, LaunchError or ArgumentError. An empty grid launches nothing.
  template <class... Arguments>
  void operator()(const Launch &launch, const Arguments &...arguments) {
    static_assert(sizeof...(Arguments) <= kMostArguments);
    const Argument all[] = {Argument(arguments)...};
    run(launch, all, sizeof...(Arguments));
  }
  void run(const Launch &launch, const Argument *arguments, int count);

  // Types and attributes that these arguments get, one a parameter.
  std::vector<Specialisation> signature(const Argument *arguments, int count);

  // How many specialisations are loaded, of all devices.
  std::size_t size() const;

  const std::string &module() const { return module_; }
  const std::string &name() const { return name_; }

 private:
  struct State;
  State &state();

  std::string module_, name_, parameters_;
  std::unique_ptr<State> owned_;
};

}  // namespace triton_jit
