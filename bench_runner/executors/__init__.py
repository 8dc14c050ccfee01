# SPDX-License-Identifier: Apache-2.0
"""Where a job's process lives: a container, or a process group of this machine."""
