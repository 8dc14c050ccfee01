// SPDX-License-Identifier: Apache-2.0
// Derivatives of torch.ops.flag_gems. Each forward and backward goes through the dispatcher again, so that fake tensors,
// functionalisation and torch.compile see the operators and not their insides.
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>

#include "register.h"

namespace flag_gems {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using at::Tensor;

template <class Signature, class... Arguments>
auto call(const char *name, Arguments &&...arguments) {
  at::AutoDispatchBelowADInplaceOrView below;
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow((std::string("flag_gems::") + name).c_str(), "");
  return op.typed<Signature>().call(std::forward<Arguments>(arguments)...);
}

struct Softmax : torch::autograd::Function<Softmax> {
  static Tensor forward(AutogradContext *context, const Tensor &self, std::int64_t dim, bool half_to_float) {
    Tensor out = call<Tensor(const Tensor &, std::int64_t, bool)>("softmax", self, dim, half_to_float);
    context->save_for_backward({out});
    context->saved_data["dim"] = dim;
    context->saved_data["dtype"] = static_cast<std::int64_t>(self.scalar_type());
    return out;
  }
  static variable_list backward(AutogradContext *context, const variable_list &grads) {
    const auto dtype = static_cast<at::ScalarType>(context->saved_data["dtype"].toInt());
    return {call<Tensor(const Tensor &, const Tensor &, std::int64_t, at::ScalarType)>(
                "softmax_backward", grads[0], context->get_saved_variables()[0], context->saved_data["dim"].toInt(), dtype),
            {}, {}};
  }
};

Tensor product_below(const Tensor &a, const Tensor &b) {
  return a.dim() == 2 ? call<Tensor(const Tensor &, const Tensor &)>("mm", a, b)
                      : call<Tensor(const Tensor &, const Tensor &)>("bmm", a, b);
}

// The same where the gradient itself may be differentiated again: through autograd.
Tensor product(const Tensor &a, const Tensor &b) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(a.dim() == 2 ? "flag_gems::mm" : "flag_gems::bmm", "");
  return op.typed<Tensor(const Tensor &, const Tensor &)>().call(a, b);
}

// mm and bmm.
struct Product : torch::autograd::Function<Product> {
  static Tensor forward(AutogradContext *context, const Tensor &self, const Tensor &mat2) {
    context->save_for_backward({self, mat2});
    return product_below(self, mat2);
  }
  static variable_list backward(AutogradContext *context, const variable_list &grads) {
    const auto saved = context->get_saved_variables();
    Tensor left, right;
    if (context->needs_input_grad(0)) left = product(grads[0], saved[1].transpose(-1, -2));
    if (context->needs_input_grad(1)) right = product(saved[0].transpose(-1, -2), grads[0]);
    return {left, right};
  }
};

struct Addmm : torch::autograd::Function<Addmm> {
  using Signature = Tensor(const Tensor &, const Tensor &, const Tensor &, const at::Scalar &, const at::Scalar &);
  static Tensor forward(AutogradContext *context, const Tensor &self, const Tensor &mat1, const Tensor &mat2,
                        const at::Scalar &beta, const at::Scalar &alpha) {
    context->save_for_backward({mat1, mat2});
    context->saved_data["beta"] = beta;
    context->saved_data["alpha"] = alpha;
    context->saved_data["shape"] = self.sym_sizes();
    return call<Signature>("addmm", self, mat1, mat2, beta, alpha);
  }
  static variable_list backward(AutogradContext *context, const variable_list &grads) {
    const auto saved = context->get_saved_variables();
    const at::Scalar beta = context->saved_data["beta"].toScalar(), alpha = context->saved_data["alpha"].toScalar();
    Tensor self, left, right;
    if (context->needs_input_grad(0))
      self = grads[0].mul(beta).sum_to_size_symint(context->saved_data["shape"].toSymIntVector());
    if (context->needs_input_grad(1)) left = product(grads[0], saved[1].t()).mul(alpha);
    if (context->needs_input_grad(2)) right = product(saved[0].t(), grads[0]).mul(alpha);
    return {self, left, right, {}, {}};
  }
};

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static Tensor forward(AutogradContext *context, const Tensor &input, const Tensor &weight, double eps) {
    using Signature = std::tuple<Tensor, Tensor>(const Tensor &, const Tensor &, double);
    auto [out, inverse] = call<Signature>("rms_norm_forward", input, weight, eps);
    context->save_for_backward({input, weight, inverse});
    return out;
  }
  static variable_list backward(AutogradContext *context, const variable_list &grads) {
    using Signature = std::tuple<Tensor, Tensor>(const Tensor &, const Tensor &, const Tensor &, const Tensor &);
    const auto saved = context->get_saved_variables();
    auto [input, weight] = call<Signature>("rms_norm_backward", grads[0], saved[0], saved[1], saved[2]);
    return {input, weight, {}};
  }
};

bool wants_gradient(std::initializer_list<const Tensor *> tensors) {
  if (!at::GradMode::is_enabled()) return false;
  for (const Tensor *tensor : tensors)
    if (tensor->requires_grad()) return true;
  return false;
}

}  // namespace

void implement_autograd(torch::Library &library) {
  library.impl("softmax", [](const Tensor &self, std::int64_t dim, bool half_to_float) {
    return Softmax::apply(self, dim, half_to_float);
  });
  library.impl("mm", [](const Tensor &self, const Tensor &mat2) { return Product::apply(self, mat2); });
  library.impl("bmm", [](const Tensor &self, const Tensor &mat2) { return Product::apply(self, mat2); });
  library.impl("addmm", [](const Tensor &self, const Tensor &mat1, const Tensor &mat2, const at::Scalar &beta,
                           const at::Scalar &alpha) { return Addmm::apply(self, mat1, mat2, beta, alpha); });
  library.impl("rms_norm", [](const Tensor &input, const Tensor &weight, double eps) {
    // Without a gradient to come the row factors need not be kept.
    if (!wants_gradient({&input, &weight})) return call<Tensor(const Tensor &, const Tensor &, double)>("rms_norm", input, weight, eps);
    return Tensor(RmsNorm::apply(input, weight, eps));
  });
  for (const char *name : {"softmax_backward", "rms_norm_forward", "rms_norm_backward", "mm.out", "bmm.out", "addmm.out"}) library.impl(name, torch::autograd::autogradNotImplementedFallback());
}

}  // namespace flag_gems
