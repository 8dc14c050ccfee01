# SPDX-License-Identifier: Apache-2.0
"""Beside a GPU's driver ours answers only when asked; alone it answers at once."""

from __future__ import annotations

import pytest
from triton.backends import Backend, backends
from triton.runtime.driver import driver

import triton_cpu
from triton_cpu.activation import VARIABLE, is_cpu_the_one
from triton_cpu.driver import CPUDriver


class OtherDriver(CPUDriver):
    """A driver whose device is always there, as a GPU's is on its machine."""

    @classmethod
    def is_active(cls) -> bool:
        return True


@pytest.fixture
def beside_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    other = Backend(backends["cpu"].compiler, OtherDriver)
    monkeypatch.setitem(backends, "other", other)


def test_alone_it_is_the_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    for name in [name for name in backends if name != "cpu"]:
        monkeypatch.delitem(backends, name)
    assert CPUDriver.is_active()


@pytest.mark.usefixtures("beside_a_gpu")
@pytest.mark.parametrize(("value", "expected"), [("", False), ("1", True), ("0", False)])
def test_beside_another_the_variable_decides(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert is_cpu_the_one() is expected


def test_the_variable_can_forbid_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    assert not CPUDriver.is_active()


@pytest.mark.usefixtures("beside_a_gpu")
def test_enable_and_disable_go_there_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = OtherDriver.__new__(OtherDriver)
    monkeypatch.setattr(driver, "_active", object())
    assert not triton_cpu.is_enabled()
    triton_cpu.enable()
    triton_cpu.enable()
    assert triton_cpu.is_enabled()
    assert type(driver.active) is CPUDriver
    triton_cpu.disable()
    assert not triton_cpu.is_enabled()
    assert driver.active is not before


def test_torch_finds_the_driver_under_its_name() -> None:
    assert isinstance(backends["cpu"].driver(), CPUDriver)
