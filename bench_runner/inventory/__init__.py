# SPDX-License-Identifier: Apache-2.0
"""Discovery manifests of a test suite, their differences, and gates that stop a silent loss.

``probe/`` runs inside the suite's own Python, which may lack every dependency of this project;
that is why neither this file nor anything under ``probe/`` imports more than the standard library.
"""
