// SPDX-License-Identifier: Apache-2.0
// What a program may set of the CPU back end.
#pragma once

namespace triton_jit {

// Threads that a launch may use, asked at each launch; without one, TRITON_CPU_THREADS or 1.
void set_cpu_thread_count(int (*count)());

}  // namespace triton_jit
