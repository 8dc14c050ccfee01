# SPDX-License-Identifier: Apache-2.0
"""The compiled half of flag_gems. ``import flag_gems`` finds the modules of this folder as its own:
``flag_gems.c_operators``, ``flag_gems.aten_patch``. CMake finds ``FlagGems::operators`` under
``cmake_prefix``.
"""

from pathlib import Path

cmake_prefix = str(Path(__file__).parent)
