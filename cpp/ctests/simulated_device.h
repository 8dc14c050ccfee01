// SPDX-License-Identifier: Apache-2.0
// A device of its own kind over host memory, under torch's key PrivateUse1: what NPU and MUSA use, without the hardware.
#pragma once

namespace simulated {

// Calls of operators that the device lacks, which ran on the CPU instead.
int fallbacks();

}  // namespace simulated
