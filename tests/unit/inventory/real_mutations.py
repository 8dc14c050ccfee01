# SPDX-License-Identifier: Apache-2.0
"""Damage and harmless edits for PyTorch v2.6.0's own files."""

from __future__ import annotations

from mutations import Mutation

CORE = "inductor/test_torchinductor.py"
DYNAMIC = "inductor/test_torchinductor_dynamic_shapes.py"
CODEGEN = "inductor/test_torchinductor_codegen_dynamic_shapes.py"
WRAPPER = "inductor/test_cpu_cpp_wrapper.py"
XPU = "inductor/test_xpu_basic.py"

ABS = """    def test_abs(self):
        def fn(a):
            return (a / (torch.abs(a) + 1),)

        self.common(fn, (torch.randn(17),))

"""
SGN = """    def test_sgn(self):
        def fn(a):
            return torch.sgn(a), torch.sgn(a + 1) - 1

        self.common(fn, [torch.linspace(-10, 10, 41)])

"""
COPY_CPU = '    copy_tests(CommonTemplate, CpuTests, "cpu")\n'
DIST = (
    '    @skipCUDAIf(not SM80OrLater, "Requires sm80")\n'
    "    @skip_if_gpu_halide  # https://github.com/halide/Halide/issues/8311\n"
    "    def test_dist_bf16"
)
LINEAR = (
    '    @skipCUDAIf(True, "cuda failed for float64 linear")\n'
    '    @skipIfXpu(msg="Double and complex datatype matmul is not supported in oneDNN")\n'
    "    def test_linear_float64"
)
PRODUCT = (
    '    @parametrize("prefer_nd_tiling", (False, True))\n'
    '    @parametrize("use_block_ptr", (False, True))\n'
)
SLOW = '    @slowTest\n    @expectedFailureCodegenDynamic\n    @config.patch({"freezing": True})\n'
GPU_RUNNER = "def check_model_gpu(\n    self: TestCase,\n    model,\n"

DAMAGE = (
    Mutation("test removed", CORE, ABS, "", ("test-removed",), "CommonTemplate.test_abs"),
    Mutation("test renamed", CORE, "test_sgn(", "test_signum(", ("test-renamed",), "test_sgn"),
    Mutation(
        "suffix changed", CORE, COPY_CPU, COPY_CPU.replace('"cpu"', '"host"'), ("suffix-renamed",)
    ),
    Mutation(
        "suffix of another device",
        CORE,
        COPY_CPU,
        COPY_CPU.replace('"cpu"', '"xpu"'),
        ("suffix-renamed", "device-mismatch"),
    ),
    Mutation(
        "expected failure dropped from a table",
        DYNAMIC,
        '    "test_kwargs_dynamic_shapes": TestFailure(("cpu",)),\n',
        "",
        ("mark-lost",),
        "test_kwargs",
    ),
    Mutation(
        "expected failure dropped for one suffix",
        CODEGEN,
        '"test_roi_align_dynamic_shapes": TestFailure(("cpu", "cuda", "xpu"))',
        '"test_roi_align_dynamic_shapes": TestFailure(("cpu", "xpu"))',
        ("mark-lost",),
        "test_roi_align",
    ),
    Mutation(
        "expected-failure property no longer passed",
        CODEGEN,
        '    CommonTemplate, xfail_prop="_expected_failure_codegen_dynamic"\n',
        "    CommonTemplate\n",
        ("mark-lost",),
    ),
    Mutation(
        "alias",
        CORE,
        COPY_CPU,
        COPY_CPU + "    Again = CpuTests\n",
        ("alias-rediscovered",),
        "Again",
    ),
    Mutation(
        "subclass",
        CORE,
        COPY_CPU,
        COPY_CPU + "\n    class Again(CpuTests):\n        pass\n",
        ("subclass-rediscovered",),
        "Again",
    ),
    Mutation(
        "test class imported by a consumer",
        DYNAMIC,
        "    CommonTemplate,\n    copy_tests,\n",
        "    CommonTemplate,\n    copy_tests,\n    CpuTests,\n",
        ("import-rediscovered",),
        "CpuTests",
    ),
    Mutation(
        "dtype dropped",
        CORE,
        "    torch.int32,\n    torch.int64,\n]\nif SM80",
        "    torch.int64,\n]\nif SM80",
        ("parameters-changed",) * 2,
    ),
    Mutation(
        "dtype dropped on one platform",
        CORE,
        "if SM80OrLater:\n    test_dtypes.append(torch.bfloat16)\n",
        "",
        ("parameters-changed",) * 2,
    ),
    Mutation(
        "product without a value",
        CORE,
        '@parametrize("prefer_nd_tiling", (False, True))',
        '@parametrize("prefer_nd_tiling", (False,))',
        ("parameters-changed",),
        "test_sdpa",
    ),
    Mutation("parametrisation off", CORE, PRODUCT, "", ("parameters-changed",), "test_sdpa"),
    Mutation(
        "class decorator of the parametrisation dropped",
        CORE,
        "@instantiate_parametrized_tests\nclass CommonTemplate",
        "class CommonTemplate",
        ("parameters-changed",) * 4,
    ),
    Mutation(
        "decorator dropped",
        CORE,
        DIST,
        DIST.replace(
            "    @skip_if_gpu_halide  # https://github.com/halide/Halide/issues/8311\n", ""
        ),
        ("gate-lost",),
        "test_dist_bf16",
    ),
    Mutation(
        "gate decorator dropped that is off here",
        CORE,
        DIST,
        DIST.partition("\n")[2],
        ("decorator-changed",),
        "test_dist_bf16",
    ),
    Mutation(
        "gate condition changed",
        CORE,
        LINEAR,
        LINEAR.replace("True", "False"),
        ("gate-lost",),
        "test_linear_float64",
    ),
    Mutation(
        "gate reason changed",
        CORE,
        "cuda failed for float64 linear",
        "float64 linear fails",
        ("gate-changed",),
        "test_linear_float64",
    ),
    Mutation(
        "decorators in another order",
        CORE,
        LINEAR,
        "\n".join([LINEAR.split("\n")[1], LINEAR.split("\n")[0], LINEAR.split("\n")[2]]),
        ("layer-changed",),
        "test_linear_float64",
    ),
    Mutation(
        "skip dropped",
        CORE,
        "    @requires_multigpu()\n    def test_linspace4",
        "    def test_linspace4",
        ("mark-lost",),
        "test_linspace4",
    ),
    Mutation("body edited", CORE, ABS, ABS.replace("+ 1", "+ 2"), ("body-changed",), "test_abs"),
    Mutation(
        "device literal in a body",
        CORE,
        'torch.linspace(0, 2, 0, device=f"{GPU_TYPE}:1")',
        'torch.linspace(0, 2, 0, device="cuda:1")',
        ("body-changed",),
        "test_linspace4",
    ),
    Mutation(
        "class renamed",
        CORE,
        "CpuTests",
        "HostTests",
        ("class-renamed",),
        "CpuTests",
        everywhere=True,
    ),
    Mutation(
        "class renamed under a consumer",
        CORE,
        "CpuTests",
        "HostTests",
        ("import-broken", "class-renamed", "api-lost"),
        discover=(WRAPPER,),
        everywhere=True,
    ),
    Mutation(
        "hard-coded device changed",
        CORE,
        '        common = check_model\n        device = "cpu"',
        '        common = check_model\n        device = "cuda"',
        ("device-changed",),
        "CpuTests",
    ),
    Mutation(
        "runner changed",
        CORE,
        "        common = check_model\n",
        "        common = check_model_gpu\n",
        ("device-changed",),
        "CpuTests",
    ),
    Mutation(
        "skip added", CORE, ABS, '    @unittest.skip("flaky")\n' + ABS, ("mark-gained",), "test_abs"
    ),
    Mutation(
        "slow mark dropped",
        CORE,
        "    @slowTest\n    def test_fuse_large_params",
        "    def test_fuse_large_params",
        ("mark-lost",),
        "test_fuse_large_params",
    ),
    Mutation(
        "custom property dropped",
        CORE,
        SLOW,
        SLOW.replace("    @expectedFailureCodegenDynamic\n", ""),
        ("decorator-changed",),
    ),
    Mutation(
        "patched value changed",
        CORE,
        SLOW,
        SLOW.replace("True", "False"),
        # torch keeps the value in a class that it makes for it, out of the layer's reach.
        ("decorator-changed",),
    ),
    Mutation("copy dropped", CORE, COPY_CPU, "", ("class-removed",), "CpuTests"),
    Mutation(
        "generator not called",
        CORE,
        "    SweepInputsCpuTest.populate()\n",
        "",
        ("class-removed",),
        "SweepInputsCpuTest",
    ),
    Mutation(
        "device branch never taken",
        CORE,
        "if HAS_GPU and not TEST_WITH_ASAN:",
        "if not HAS_GPU:",
        ("class-removed",) * 4 + ("test-removed",),
    ),
    Mutation(
        "copy passes over a method",
        CORE,
        'if name.startswith("test_"):\n            # You cannot copy',
        'if name.startswith("test_") and name != "test_abs":\n            # You cannot copy',
        ("test-removed", "mapping-open", "mapping-open"),
        "test_abs",
    ),
    Mutation(
        "wrapper edited",
        CORE,
        "                return value(self)\n",
        "                return value(self) or None\n",
        ("layer-changed",),
    ),
    Mutation(
        "method moved to another class",
        CORE,
        "    class TestFull(TestCase):\n",
        "    class TestWhole(TestCase):\n",
        ("test-moved",),
    ),
    Mutation(
        "method renamed under a fragile consumer",
        CORE,
        "test_relu(",
        "test_rectify(",
        ("import-broken", "test-renamed"),
        "test_relu_cpu",
        discover=(WRAPPER,),
    ),
    Mutation(
        "helper with another signature",
        CORE,
        GPU_RUNNER,
        GPU_RUNNER + "    strict,\n",
        ("api-changed",),
        "check_model_gpu",
        discover=(XPU,),
    ),
    Mutation(
        "helper with another body",
        CORE,
        "            rtol = max(2e-3, rtol)\n",
        "            rtol = max(3e-3, rtol)\n",
        ("helper-changed",),
        "check_model_gpu",
        discover=(XPU,),
    ),
    Mutation(
        "helper gone under a consumer",
        CORE,
        "check_model_gpu",
        "compare_on_gpu",
        ("import-broken", "device-changed", "api-lost"),
        discover=(XPU,),
        everywhere=True,
    ),
    Mutation(
        "key of a failure table misspelt",
        CODEGEN,
        '"test_cudnn_rnn_dynamic_shapes"',
        '"test_cudnn_rrn_dynamic_shapes"',
        ("mark-lost", "dead-key"),
    ),
    Mutation(
        "suffixes become a string",
        DYNAMIC,
        'TestFailure(("cpu",))',
        'TestFailure(("cpu"))',
        ("string-suffix",),
    ),
    Mutation("definition shadowed", CORE, ABS, ABS + ABS, ("shadowed-definition",), "test_abs"),
    Mutation(
        "set-up edited",
        CORE,
        "        self._start = time.perf_counter()\n",
        "",
        ("class-changed",),
        "TestCase",
    ),
    Mutation(
        "base class changed",
        CORE,
        "class TestFull(TestCase)",
        "class TestFull(InductorTestCase)",
        ("class-changed",),
        "TestFull",
    ),
    Mutation(
        "class attribute changed",
        CORE,
        '        "double",\n        "int",\n    ]\n',
        '        "double",\n    ]\n',
        ("class-changed", "parameters-changed"),
        "SweepInputs2",
    ),
    Mutation(
        "class is no test case any more",
        XPU,
        "class XpuBasicTests(TestCase)",
        "class XpuBasicTests",
        ("file-emptied",),
    ),
    Mutation("syntax error", XPU, "import unittest\n", "import unittest (\n", ("import-broken",)),
)

HEURISTICS = '    "test_conv_inference_heuristics_dynamic_shapes": TestFailure(("cuda", "xpu")),\n'
KWARGS = '    "test_kwargs_dynamic_shapes": TestFailure(("cpu",)),\n'

HARMLESS = (
    Mutation("comment", CORE, ABS, "    # Absolute values.\n" + ABS),
    Mutation(
        "comment in a body", CORE, ABS, ABS.replace("        self", "        # Run.\n        self")
    ),
    Mutation(
        "docstring of a test", CORE, "test_abs(self):\n", 'test_abs(self):\n        """Abs."""\n'
    ),
    Mutation(
        "docstring of a class",
        CORE,
        "class CommonTemplate:\n",
        'class CommonTemplate:\n    """All tests."""\n\n',
    ),
    Mutation("blank lines", CORE, "import weakref\n", "import weakref\n\n\n"),
    Mutation(
        "lines broken",
        CORE,
        "self.common(fn, (torch.randn(17),))",
        "self.common(\n fn, (torch.randn(17),)\n)",
    ),
    Mutation("parentheses", CORE, "(torch.abs(a) + 1)", "((torch.abs(a)) + 1)"),
    Mutation("other quotes", CORE, '("prefer_nd_tiling", (', "('prefer_nd_tiling', ("),
    Mutation(
        "string in two parts",
        CORE,
        '"cuda failed for float64 linear"',
        '"cuda failed " "for float64 linear"',
    ),
    Mutation("number spelt otherwise", CORE, "torch.randn(17)", "torch.randn(0x11)"),
    Mutation("methods in another order", CORE, ABS, "", also=((CORE, SGN, SGN + ABS),)),
    Mutation(
        "helper moved in its file",
        CORE,
        "\n\ncheck_model_cuda = check_model_gpu\n",
        "",
        also=(
            (
                CORE,
                "class SweepInputs2:\n",
                "check_model_cuda = check_model_gpu\n\n\nclass SweepInputs2:\n",
            ),
        ),
    ),
    Mutation(
        "new helper",
        CORE,
        "class SweepInputs2:\n",
        "def unused():\n    return 1\n\n\nclass SweepInputs2:\n",
    ),
    Mutation("new import", CORE, "import weakref\n", "import weakref\nimport string\n"),
    Mutation(
        "imports in another order",
        CORE,
        "import gc\nimport importlib\n",
        "import importlib\nimport gc\n",
    ),
    Mutation(
        "return annotation",
        CORE,
        "def test_full_dtype(self):",
        "def test_full_dtype(self) -> None:",
    ),
    Mutation(
        "table in another order",
        DYNAMIC,
        KWARGS,
        "",
        also=((DYNAMIC, HEURISTICS, HEURISTICS + KWARGS),),
    ),
    Mutation("main block", XPU, "        run_tests(", "        print(1)\n        run_tests("),
    Mutation("windows line ends", XPU, "\n", "\r\n", everywhere=True),
    Mutation(
        "owner changed", CORE, '# Owner(s): ["module: inductor"]', '# Owner(s): ["oncall: pt2"]'
    ),
    Mutation(
        "decorator with a comment",
        CORE,
        "    @requires_multigpu()\n    def test_linspace4",
        "    @requires_multigpu()  # two\n    def test_linspace4",
    ),
)
