// SPDX-License-Identifier: Apache-2.0
// The Python module aten_patch. Loading it replaces nothing; flag_gems does that where USE_C_EXTENSION=1.
#include <torch/csrc/utils/pybind.h>

#include "aten_patch.h"
#include "exceptions.h"

namespace py = pybind11;

namespace {

constexpr c10::DispatchKey kKey = c10::DispatchKey::FLAGGEMS_DISPATCH_KEY;

using Names = std::vector<std::string>;

// The operators of a with block; those that were replaced before it stay so.
class Block {
 public:
  explicit Block(Names names) : names_(std::move(names)) {}
  void enter() {
    for (const std::string &name : names_)
      if (flag_gems::enable_patch(name, kKey)) changed_.push_back(name);
  }
  void exit(const py::args &) {
    for (const std::string &name : changed_) flag_gems::disable_patch(name);
    changed_.clear();
  }

 private:
  Names names_, changed_;
};

Names given(const py::args &arguments) { return arguments.empty() ? flag_gems::patchable() : arguments.cast<Names>(); }

}  // namespace

PYBIND11_MODULE(aten_patch, module) {
  module.doc() = "Replaces torch's own kernels by the C++ operators of flag_gems, operator by operator.";
  flag_gems::raise_as_torch_does();
  module.def("enable", [](const py::args &names) {
    for (const std::string &name : given(names)) flag_gems::enable_patch(name, kKey);
  }, "Replaces these operators of torch.ops.aten ('mm', 'sum.dim_IntList'); without names all that can be.");
  module.def("disable", [](const py::args &names) {
    for (const std::string &name : given(names)) flag_gems::disable_patch(name);
  }, "Gives these operators, or all, back to torch.");
  module.def("get_registered_ops", &flag_gems::patched, "The operators that are replaced now.");
  module.def("patchable", &flag_gems::patchable, "The operators that can be replaced.");
  py::class_<Block>(module, "use", "with aten_patch.use('mm', ...): replaced inside the block only.")
      .def(py::init([](const py::args &names) { return Block(given(names)); }))
      .def("__enter__", &Block::enter)
      .def("__exit__", &Block::exit);
}
