# SPDX-License-Identifier: Apache-2.0
"""What a benchmark file is written with; one test an operator:

@pytest.mark.softmax
def test_softmax():
    Benchmark(
        op_name="softmax",
        torch_op="torch.softmax",
        gems_op=flag_gems.softmax,
        build=lambda shape, dtype, device: Inputs((torch.randn(shape, ...), -1)),
        shapes=Shapes(core=((4096, 1024),), more=((4096, 32768),)),
    ).run()
"""

from flag_gems.testing.benchmark.benchmark import Benchmark
from flag_gems.testing.benchmark.cases import FLOAT_DTYPES, Case, Shapes
from flag_gems.testing.benchmark.inputs import Inputs

__all__ = ["FLOAT_DTYPES", "Benchmark", "Case", "Inputs", "Shapes"]
