// SPDX-License-Identifier: Apache-2.0
// The back end that this library was configured for.
#pragma once

#if defined(TRITON_JIT_CPU)
#include "backend_cpu.h"
namespace triton_jit { using ActiveBackend = CpuBackend; }
#elif defined(TRITON_JIT_CUDA) || defined(TRITON_JIT_IX)
#include "backend_cuda.h"
namespace triton_jit { using ActiveBackend = CudaBackend; }
#elif defined(TRITON_JIT_MUSA)
#include "backend_musa.h"
namespace triton_jit { using ActiveBackend = MusaBackend; }
#elif defined(TRITON_JIT_NPU)
#include "backend_npu.h"
namespace triton_jit { using ActiveBackend = NpuBackend; }
#else
#error "configure with TRITON_JIT_BACKEND=CPU, CUDA, IX, MUSA or NPU"
#endif
