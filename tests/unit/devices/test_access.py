# SPDX-License-Identifier: Apache-2.0
"""What doctor says a container would miss."""

from __future__ import annotations

from bench_runner.backends import load_backends
from bench_runner.devices.access import lacks

BACKENDS = load_backends()


def test_cuda_needs_the_engines_runtime() -> None:
    (lack,) = lacks(BACKENDS["nvidia-cuda133"], [0], ["runc"])
    assert "no runtime nvidia" in lack.what
    assert "nvidia-container-toolkit" in lack.advice
    assert lacks(BACKENDS["nvidia-cuda133"], [0], ["runc", "nvidia"]) == []


def test_a_host_image_needs_nodes_and_no_runtime() -> None:
    backend = BACKENDS["nvidia-cuda133"]
    nodes = {p.replace("{id}", "0") for p in backend.container.host_device_nodes}
    assert nodes
    assert lacks(backend, [0], ["runc"], nodes.__contains__, on_host=True) == []
    missing = lacks(backend, [0, 1], ["runc"], nodes.__contains__, on_host=True)
    assert {lack.what for lack in missing} == {"no device node /dev/nvidia1"}


def test_musa_needs_its_own_runtime() -> None:
    (lack,) = lacks(BACKENDS["mthreads-musa520"], [0], ["runc"])
    assert "mthreads" in lack.what


def test_ascend_needs_a_node_of_each_device_and_the_drivers_folders() -> None:
    there = {"/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc", "/dev/davinci0"}
    there.update(BACKENDS["ascend-cann900"].container.mounts)
    assert lacks(BACKENDS["ascend-cann900"], [0], [], there.__contains__) == []
    (node,) = lacks(BACKENDS["ascend-cann900"], [0, 3], [], there.__contains__)
    assert node.what == "no device node /dev/davinci3"
    (mount,) = lacks(
        BACKENDS["ascend-cann900"], [0], [], (there - {"/usr/local/dcmi"}).__contains__
    )
    assert "/usr/local/dcmi" in mount.what


def test_a_cpu_container_lacks_nothing() -> None:
    assert lacks(BACKENDS["cpu"], [0], []) == []
