# SPDX-License-Identifier: Apache-2.0
"""Builds and lists the images in which jobs run, from backends.yaml and one Dockerfile."""
