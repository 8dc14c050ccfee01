// SPDX-License-Identifier: Apache-2.0
// The Python module c_operators: the C++ operators past the dispatcher; loading it also registers torch.ops.flag_gems.
#include <torch/csrc/utils/pybind.h>

#include "exceptions.h"
#include "flag_gems/operators.h"
#include "native.h"
#include "register.h"

namespace py = pybind11;

TORCH_LIBRARY(flag_gems, library) { flag_gems::define(library); }
TORCH_LIBRARY_IMPL(flag_gems, FLAGGEMS_DISPATCH_KEY, library) { flag_gems::implement(library); }
TORCH_LIBRARY_IMPL(flag_gems, Autograd, library) { flag_gems::implement_autograd(library); }

namespace {

// A Python number; torch has no conversion to c10::Scalar that pybind11 could use.
struct Number {
  at::Scalar value;
};

}  // namespace

template <>
struct pybind11::detail::type_caster<Number> {
  PYBIND11_TYPE_CASTER(Number, const_name("float"));
  bool load(handle source, bool) {
    PyObject *object = source.ptr();
    if (PyBool_Check(object)) value.value = at::Scalar(object == Py_True);
    else if (PyLong_Check(object)) value.value = at::Scalar(static_cast<std::int64_t>(PyLong_AsLongLong(object)));
    else if (PyFloat_Check(object)) value.value = at::Scalar(PyFloat_AS_DOUBLE(object));
    else return false;
    if (PyErr_Occurred()) throw error_already_set();
    return true;
  }
  static handle cast(const Number &, return_value_policy, handle) { return py::none().release(); }
};

namespace {

using at::Tensor;

// The interpreter lock is free while a kernel runs.
using Released = py::call_guard<py::gil_scoped_release>;

}  // namespace

PYBIND11_MODULE(c_operators, module) {
  using namespace flag_gems;
  using namespace py::literals;
  module.doc() = "The C++ operators of flag_gems, called without torch's dispatcher; no autograd.";
  raise_as_torch_does();
  module.def("softmax", &softmax, "input"_a, "dim"_a, "half_to_float"_a = false, Released());
  module.def("softmax_backward", &softmax_backward, "grad_output"_a, "output"_a, "dim"_a, "input_dtype"_a, Released());
  module.def("rms_norm", &rms_norm, "input"_a, "weight"_a, "eps"_a = 1e-5, Released());
  module.def("mm", &mm_tensor, "input"_a, "mat2"_a, Released());
  module.def("mm_out", &mm_out_tensor, "input"_a, "mat2"_a, py::kw_only(), "out"_a, Released());
  module.def("bmm", &bmm, "input"_a, "mat2"_a, Released());
  module.def("bmm_out", &bmm_out, "input"_a, "mat2"_a, py::kw_only(), "out"_a, Released());
  module.def("addmm", [](const Tensor &input, const Tensor &mat1, const Tensor &mat2, const Number &beta, const Number &alpha) {
    return addmm(input, mat1, mat2, beta.value, alpha.value);
  }, "input"_a, "mat1"_a, "mat2"_a, py::kw_only(), "beta"_a = 1, "alpha"_a = 1, Released());
  module.def("addmm_out", [](const Tensor &input, const Tensor &mat1, const Tensor &mat2, const Number &beta,
                             const Number &alpha, Tensor out) {
    return addmm_out(input, mat1, mat2, beta.value, alpha.value, out);
  }, "input"_a, "mat1"_a, "mat2"_a, py::kw_only(), "beta"_a = 1, "alpha"_a = 1, "out"_a, Released());

  module.def("native_calls", &native_calls, "Calls that went to torch's own kernels: {(operator, reason): count}.");
  module.def("native_count", &native_count, "The sum of native_calls().");
}
