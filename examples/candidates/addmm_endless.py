# SPDX-License-Identifier: Apache-2.0
"""Loops for ever: waits for a change that never comes."""


def addmm_(input, mat1, mat2, *, beta=1, alpha=1):
    before = input.clone()
    while (input == before).all():
        pass
    return input
