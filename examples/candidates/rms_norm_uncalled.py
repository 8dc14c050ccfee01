# SPDX-License-Identifier: Apache-2.0
"""Never called: right, but the matrix puts it in the place of an operator that nobody calls."""

import torch


def rms_norm(x, normalized_shape, weight=None, eps=1e-5):
    return torch.nn.functional.rms_norm(x, normalized_shape, weight, eps)
