# SPDX-License-Identifier: Apache-2.0
"""What runs inside the suite's own process. Standard library only; see ``__main__``."""
