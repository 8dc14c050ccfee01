// SPDX-License-Identifier: Apache-2.0
// Schemas of torch.ops.flag_gems and the functions behind them: one line an operator.
#include "flag_gems/operators.h"
#include "register.h"

namespace flag_gems {

namespace {

template <auto *F>
void bind(torch::Library &library, const char *name) {
  library.impl(name, torch::CppFunction(c10::CompileTimeFunctionPointer<std::remove_pointer_t<decltype(F)>, F>()));
}

struct Operator {
  const char *name;
  const char *schema;
  void (*implement)(torch::Library &, const char *);
};

const Operator kOperators[] = {
    {"softmax", "(Tensor self, int dim, bool half_to_float=False) -> Tensor", bind<&softmax>},
    {"softmax_backward", "(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
     bind<&softmax_backward>},
    {"rms_norm", "(Tensor input, Tensor weight, float eps=1e-05) -> Tensor", bind<&rms_norm>},
    {"rms_norm_forward", "(Tensor input, Tensor weight, float eps) -> (Tensor, Tensor)", bind<&rms_norm_forward>},
    {"rms_norm_backward", "(Tensor grad, Tensor input, Tensor weight, Tensor inverse) -> (Tensor, Tensor)",
     bind<&rms_norm_backward>},
    {"mm", "(Tensor self, Tensor mat2) -> Tensor", bind<&mm_tensor>},
    {"mm.out", "(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)", bind<&mm_out_tensor>},
    {"bmm", "(Tensor self, Tensor mat2) -> Tensor", bind<&bmm>},
    {"bmm.out", "(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)", bind<&bmm_out>},
    {"addmm", "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", bind<&addmm>},
    {"addmm.out",
     "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
     bind<&addmm_out>},
};

}  // namespace

void define(torch::Library &library) {
  for (const Operator &op : kOperators)
    library.def((std::string(op.name) + op.schema).c_str(), {at::Tag::pt2_compliant_tag});
}

void implement(torch::Library &library) {
  for (const Operator &op : kOperators) op.implement(library, op.name);
}

}  // namespace flag_gems
