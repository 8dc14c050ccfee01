// SPDX-License-Identifier: Apache-2.0
// What stands behind each ATen operator that can be replaced: its exact signature, in terms of flag_gems::.
#pragma once

#include <ATen/core/Tensor.h>

#include "flag_gems/operators.h"

// (name in torch.ops.aten, function of flag_gems::aten)
#define FLAG_GEMS_ATEN_FUNCTIONS(X)               \
  X("_softmax", softmax)                          \
  X("_softmax_backward_data", softmax_backward)   \
  X("mm", mm)                                     \
  X("mm.out", mm_out)                             \
  X("bmm", bmm)                                   \
  X("bmm.out", bmm_out)                           \
  X("addmm", addmm)                               \
  X("addmm.out", addmm_out)

namespace flag_gems::aten {

using at::Tensor;

inline Tensor softmax(const Tensor &self, std::int64_t dim, bool half_to_float) {
  return flag_gems::softmax(self, dim, half_to_float);
}
inline Tensor softmax_backward(const Tensor &grad, const Tensor &output, std::int64_t dim, at::ScalarType dtype) {
  return flag_gems::softmax_backward(grad, output, dim, dtype);
}
inline Tensor mm(const Tensor &self, const Tensor &mat2) { return flag_gems::mm_tensor(self, mat2); }
inline Tensor &mm_out(const Tensor &self, const Tensor &mat2, Tensor &out) {
  return flag_gems::mm_out_tensor(self, mat2, out);
}
inline Tensor bmm(const Tensor &self, const Tensor &mat2) { return flag_gems::bmm(self, mat2); }
inline Tensor &bmm_out(const Tensor &self, const Tensor &mat2, Tensor &out) { return flag_gems::bmm_out(self, mat2, out); }
inline Tensor addmm(const Tensor &self, const Tensor &mat1, const Tensor &mat2, const at::Scalar &beta,
                    const at::Scalar &alpha) {
  return flag_gems::addmm(self, mat1, mat2, beta, alpha);
}
inline Tensor &addmm_out(const Tensor &self, const Tensor &mat1, const Tensor &mat2, const at::Scalar &beta,
                         const at::Scalar &alpha, Tensor &out) {
  return flag_gems::addmm_out(self, mat1, mat2, beta, alpha, out);
}

}  // namespace flag_gems::aten
