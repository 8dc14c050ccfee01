# SPDX-License-Identifier: Apache-2.0
"""Devices from what the vendors' tools print, and from real processes that fail in their ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_runner.devices import (
    Device,
    DeviceNotFound,
    ascend,
    cpu,
    find_devices,
    iluvatar,
    mthreads,
    nvidia,
)


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_nvidia_nodes_are_numbered_by_the_driver_not_by_the_index(tmp_path: Path) -> None:
    information = tmp_path / "0000:3b:00.0" / "information"
    information.parent.mkdir()
    information.write_text("Model: \t\t NVIDIA H200\nDevice Minor: \t 5\n")
    text = (
        "0, GPU-11111111-2222-3333-4444-555555555555, 00000000:3B:00.0, NVIDIA H200\n"
        "1, GPU-11111111-2222-3333-4444-666666666666, 00000000:5C:00.0, NVIDIA H200, sliced\n"
    )
    assert nvidia.parse(text, tmp_path) == [
        Device("GPU-11111111-2222-3333-4444-555555555555", 0, 5, "NVIDIA H200"),
        Device("GPU-11111111-2222-3333-4444-666666666666", 1, 1, "NVIDIA H200, sliced"),
    ]


def test_iluvatar() -> None:
    text = "0, GPU-aaaa, Iluvatar BI-V150\n1, GPU-bbbb, Iluvatar BI-V150\n"
    assert [device.id for device in iluvatar.parse(text)] == ["GPU-aaaa", "GPU-bbbb"]


def test_mthreads() -> None:
    text = "GPU 0: MTT S4000 (UUID: 6a7b-1)\nGPU 1: MTT S4000(UUID: 6a7b-2)\n"
    assert mthreads.parse(text) == [
        Device("6a7b-1", 0, 0, "MTT S4000"),
        Device("6a7b-2", 1, 1, "MTT S4000"),
    ]


def test_ascend_leaves_out_the_boards_controller() -> None:
    text = (
        "\tNPU ID      Chip ID     Chip Logic ID     Chip Name\n"
        "\t0           0           0                 Ascend 910B3\n"
        "\t0           1           -                 Mcu\n"
        "\t4           0           1                 Ascend 910B3\n"
    )
    assert ascend.parse(text) == [
        Device("0", 0, 0, "Ascend 910B3"),
        Device("1", 1, 1, "Ascend 910B3"),
    ]


def test_the_cpu_is_one_device_even_where_nothing_is_known_of_it(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: A CPU\n\nprocessor\t: 1\n")
    assert cpu.find(tmp_path / "cpuinfo") == [Device("cpu", 0, 0, "A CPU")]
    (absent,) = cpu.find(tmp_path / "absent")
    assert absent.name


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'no driver' >&2; exit 9", "nvidia-smi exited with 9: no driver"),
        ("exit 9", "nvidia-smi exited with 9"),
        ("echo No devices were found", "lists none"),
    ],
)
def test_a_tool_that_finds_nothing_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    tool(tmp_path, "nvidia-smi", script)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(DeviceNotFound, match=message) as caught:
        find_devices("nvidia")
    assert "\n" not in str(caught.value)


def test_devices_come_by_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, "nvidia-smi", "echo '1, GPU-b, 0:1, B'; echo '0, GPU-a, 0:0, A'")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert [device.name for device in find_devices("nvidia")] == ["A", "B"]


def test_an_absent_tool_and_an_unknown_vendor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceNotFound, match="npu-smi, the vendor's tool, is not installed"):
        find_devices("ascend")
    with pytest.raises(DeviceNotFound, match="no tool is known"):
        find_devices("abacus")
