# SPDX-License-Identifier: Apache-2.0
"""What a machine's pip was told reaches a build, unless it would mean nothing there."""

from __future__ import annotations

from bench_runner.images.host_pip import from_listing, read_host_pip


def test_pips_own_listing_is_understood(tmp_path, monkeypatch):
    ca = tmp_path / "ca.pem"
    ca.write_text("")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    conf = tmp_path / "pip.conf"
    conf.write_text(
        "[global]\nindex-url = https://mirror/simple\nfind-links = /does/not/exist\n"
        f"cert = {ca}\nextra-index-url = https://more/simple\n  file:///local/simple\n"
    )
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    host = read_host_pip()
    assert host.index == "https://mirror/simple"
    assert "https://more/simple" in host.extra
    assert host.ca_bundle == ca
    assert host.wheels == wheels
    assert ("file:///local/simple", "not visible inside a build") in host.left_out


def test_the_environment_wins_over_files():
    listing = ":env:.index-url='https://env'\nglobal.index-url='https://file'\n"
    assert from_listing(listing).index == "https://env"


def test_a_second_wheel_folder_is_left_out_aloud(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    host = from_listing(f"global.find-links='{first} file://{second} {tmp_path}/absent'\n")
    assert host.wheels == first
    assert host.left_out == ((str(second), "a build takes one wheel folder"),)


def test_no_configuration_is_nothing():
    host = from_listing("")
    assert (host.index, host.extra, host.ca_bundle, host.wheels) == (None, (), None, None)
