# SPDX-License-Identifier: Apache-2.0
"""Damage and harmless edits for the small suite."""

from __future__ import annotations

from mutations import Mutation

CORE = "unit/test_core.py"
DYNAMIC = "unit/test_dynamic.py"
WRAPPER = "unit/test_wrapper.py"
HELPERS = "unit/test_helpers_only.py"
TRANSFORM = "unit/test_transform.py"
MENTIONS = "unit/test_mentions.py"
GENERATOR = "generator.py"
HARDWARE = "hardware.py"

ADD = """    def test_add(self):
        self.common(lambda a, b: a + b, (1, 2))

"""
COPY_CPU = 'copy_tests(CommonTemplate, CpuTests, "cpu")\n'

DAMAGE = (
    Mutation("test removed", CORE, ADD, "", ("test-removed",), "CommonTemplate.test_add"),
    Mutation("test renamed", CORE, "test_add(", "test_sum(", ("test-renamed",), "test_add"),
    Mutation(
        "test renamed away from its expected failure",
        CORE,
        "test_mul(self)",
        "test_times(self)",
        ("test-renamed", "mark-lost"),
    ),
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
        "expected failure dropped from the source",
        CORE,
        "    @unittest.expectedFailure\n",
        "",
        ("mark-lost",),
        "test_known_bad",
    ),
    Mutation(
        "expected failure dropped from a table",
        DYNAMIC,
        '    "test_mul_dynamic": Failure(("cpu", "cuda")),\n',
        "",
        ("mark-lost",),
        "test_mul",
    ),
    Mutation(
        "expected failure dropped for one suffix",
        DYNAMIC,
        'Failure(("cpu", "cuda"))',
        'Failure(("cpu",))',
        ("mark-lost",),
        "test_mul",
    ),
    Mutation(
        "expected-failure property no longer passed",
        TRANSFORM,
        ', xfail_prop="_expected_failure_interpreted"',
        "",
        ("mark-lost",),
        "test_interpreted",
    ),
    Mutation(
        "alias", CORE, COPY_CPU, COPY_CPU + "Again = CpuTests\n", ("alias-rediscovered",), "Again"
    ),
    Mutation(
        "subclass",
        CORE,
        COPY_CPU,
        COPY_CPU + "\n\nclass Again(CpuTests):\n    pass\n",
        ("subclass-rediscovered",),
        "Again",
    ),
    Mutation(
        "test class imported by a consumer",
        DYNAMIC,
        "import CommonTemplate, Failure",
        "import CommonTemplate, CpuTests, Failure",
        ("import-rediscovered",),
        "CpuTests",
    ),
    Mutation("dtype dropped", CORE, '"f32", "f64", "i8"', '"f32", "i8"', ("parameters-changed",)),
    Mutation(
        "dtype dropped on one platform",
        CORE,
        'if RECENT:\n    DTYPES.append("bf16")\n',
        "",
        ("parameters-changed",),
        "test_cast",
    ),
    Mutation(
        "product without a value",
        CORE,
        "for y in (3, 4)",
        "for y in (3,)",
        ("parameters-changed",),
        "test_product",
    ),
    Mutation(
        "parameter value changed",
        CORE,
        "for y in (3, 4)",
        "for y in (3, 5)",
        ("parameters-changed",),
        "test_product",
    ),
    Mutation(
        "parametrisation off",
        CORE,
        '    @parametrize("dtype", DTYPES)\n    def test_cast(self, dtype):',
        '    def test_cast(self, dtype="f32"):',
        ("parameters-changed",),
        "test_cast",
    ),
    Mutation(
        "class decorator of the parametrisation dropped",
        CORE,
        "@instantiate_parametrized_tests\nclass",
        "class",
        ("parameters-changed", "parameters-changed"),
    ),
    Mutation("decorator dropped", CORE, "    @skip_if_strict\n", "", ("gate-lost",), "test_layers"),
    Mutation(
        "gate decorator dropped that is off here",
        CORE,
        '    @skip_cuda_if(not RECENT, "needs 8.0")\n',
        "",
        ("decorator-changed",),
        "test_recent",
    ),
    Mutation(
        "gate condition changed",
        CORE,
        'skip_cuda_if(True, "broken on cuda")',
        'skip_cuda_if(False, "broken on cuda")',
        ("gate-lost",),
        "test_layers",
    ),
    Mutation("gate reason changed", CORE, "broken on cuda", "slow on cuda", ("gate-changed",)),
    Mutation(
        "decorators in another order",
        CORE,
        '    @skip_cuda_if(True, "broken on cuda")\n    @skip_if_strict\n',
        '    @skip_if_strict\n    @skip_cuda_if(True, "broken on cuda")\n',
        ("layer-changed",),
        "test_layers",
    ),
    Mutation("body edited", CORE, "lambda a: -a", "lambda a: +a", ("body-changed",), "test_layers"),
    Mutation(
        "nested function edited",
        CORE,
        "self.assertNotEqual((first, second), (None, None))",
        "self.assertNotEqual((first, second), None)",
        ("body-changed",),
    ),
    Mutation(
        "device literal in a body",
        CORE,
        'device = "cuda" if self.device == "cuda" else "cpu"',
        'device = "xpu" if self.device == "xpu" else "cpu"',
        ("body-changed",),
        "test_cuda_literal",
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
        '    common = check_model\n    device = "cpu"',
        '    common = check_model\n    device = "cuda"',
        ("device-changed",),
        "CpuTests",
    ),
    Mutation(
        "runner changed",
        CORE,
        "    common = check_model\n",
        "    common = check_model_gpu\n",
        ("device-changed",),
        "CpuTests",
    ),
    Mutation(
        "skip added",
        CORE,
        ADD,
        '    @unittest.skip("flaky")\n' + ADD,
        ("mark-gained",),
        "test_add",
    ),
    Mutation("skip reason changed", CORE, 'skip("not yet")', 'skip("never")', ("mark-changed",)),
    Mutation(
        "class skipped",
        CORE,
        "class PlainTest",
        '@unittest.skip("tired")\nclass PlainTest',
        ("mark-gained",),
    ),
    Mutation("slow mark dropped", CORE, "    @slow\n", "", ("mark-lost",), "test_long"),
    Mutation(
        "custom property dropped",
        CORE,
        "    @xfail_if_interpreted\n",
        "",
        ("decorator-changed",),
        "test_interpreted",
    ),
    Mutation("copy dropped", CORE, COPY_CPU, "", ("class-removed",), "CpuTests"),
    Mutation("generator not called", CORE, "SweepCpuTest.populate()\n", "", ("class-removed",)),
    Mutation(
        "device branch never taken", CORE, "if HAS_GPU:", "if not HAS_GPU:", ("class-removed",)
    ),
    Mutation(
        "copy passes over a method",
        GENERATOR,
        'if not name.startswith("test_"):\n            continue\n\n        @functools',
        'if not name.startswith("test_") or name == "test_add":\n            continue\n\n'
        "        @functools",
        ("test-removed", "mapping-open", "mapping-open"),
        "test_add",
        discover=(CORE,),
    ),
    Mutation(
        "wrapper edited",
        GENERATOR,
        "            return value(self)\n",
        "            return value(self) or None\n",
        ("layer-changed",),
        discover=(CORE,),
    ),
    Mutation(
        "method moved to another class",
        CORE,
        "    def test_half(self):",
        "\nclass OtherTest(TestCase):\n    def test_half(self):",
        ("test-moved",),
    ),
    Mutation(
        "method renamed under a fragile consumer",
        CORE,
        "test_add(",
        "test_sum(",
        ("import-broken", "test-renamed"),
        "test_add_cpu",
        discover=(WRAPPER,),
    ),
    Mutation(
        "helper with another signature",
        CORE,
        "def check_model(self, fn, arguments):",
        "def check_model(self, fn, arguments, exact):",
        ("api-changed",),
        "check_model",
        discover=(HELPERS,),
    ),
    Mutation(
        "helper with another body",
        CORE,
        '    self.seen.append("cpu")\n',
        "",
        ("helper-changed",),
        "check_model",
        discover=(HELPERS,),
    ),
    Mutation(
        "helper gone under a consumer",
        CORE,
        "check_model",
        "compare_model",
        ("import-broken", "device-changed", "device-changed", "api-lost"),
        discover=(HELPERS,),
        everywhere=True,
    ),
    Mutation(
        "key of a failure table misspelt",
        DYNAMIC,
        '"test_long_dynamic"',
        '"test_lung_dynamic"',
        ("mark-lost", "dead-key"),
    ),
    Mutation(
        "key of another platform misspelt",
        DYNAMIC,
        '"test_cast_dtype_f64_dynamic"',
        '"test_cast_dtype_f46_dynamic"',
        ("failure-table-changed", "dead-key"),
    ),
    Mutation(
        "suffixes become a string",
        DYNAMIC,
        'Failure(("xpu",))',
        'Failure(("xpu"))',
        ("string-suffix",),
    ),
    Mutation("definition shadowed", CORE, ADD, ADD + ADD, ("shadowed-definition",), "test_add"),
    Mutation(
        "set-up edited", CORE, "self.seen = []", "self.seen = ['x']", ("class-changed",), "TestCase"
    ),
    Mutation(
        "base class changed",
        CORE,
        "class PlainTest(TestCase)",
        "class PlainTest(unittest.TestCase)",
        ("class-changed",),
        "PlainTest",
    ),
    Mutation(
        "class attribute changed",
        CORE,
        '    kinds = ("dense", "strided")',
        '    kinds = ("dense", "sparse")',
        ("class-changed", "parameters-changed"),
    ),
    Mutation(
        "class is no test case any more",
        MENTIONS,
        "class MentionTests(unittest.TestCase)",
        "class MentionTests",
        ("file-emptied",),
    ),
    Mutation(
        "syntax error", HELPERS, "import unittest\n", "import unittest (\n", ("import-broken",)
    ),
    Mutation(
        "patched value changed",
        CORE,
        '{"SUITE_MODE": "patched"}',
        '{"SUITE_MODE": "other"}',
        ("decorator-changed",),
        "test_patched",
    ),
    Mutation(
        "consumer under one module name",
        WRAPPER,
        "try:\n    from . import test_core, test_dynamic\nexcept ImportError:\n"
        "    import test_core\n    import test_dynamic\n",
        "import unit.test_core as test_core\nimport unit.test_dynamic as test_dynamic\n",
        ("template-changed",) * 3,
    ),
)

MUL = """    def test_mul(self):
        self.common(lambda a, b: a * b, (3, 4))

"""
STRICT = """def skip_if_strict(fn):
    def wrapper(self):
        if os.environ.get("SUITE_STRICT"):
            raise unittest.SkipTest("not strict")
        return fn(self)

    wrapper.__name__ = fn.__name__
    wrapper.__wrapped__ = fn
    return wrapper


"""
GPU_RUNNER = """def check_model_gpu(self, fn, arguments):
    self.seen.append(GPU_TYPE)
    self.assertEqual(fn(*arguments), fn(*arguments))


"""

HARMLESS = (
    Mutation("comment", CORE, ADD, "    # Adds.\n" + ADD),
    Mutation("comment in a body", CORE, "self.fail(", "# Never.\n        self.fail("),
    Mutation(
        "docstring of a test",
        CORE,
        "def test_add(self):\n",
        'def test_add(self):\n        """A sum."""\n',
    ),
    Mutation(
        "docstring of a class",
        CORE,
        "class CommonTemplate:\n",
        'class CommonTemplate:\n    """All."""\n',
    ),
    Mutation("docstring of the file", CORE, "The corpus that", "A corpus that"),
    Mutation("blank lines", CORE, "import unittest\n", "import unittest\n\n\n"),
    Mutation(
        "lines broken", CORE, "(lambda a, b: a + b, (1, 2))", "(\n lambda a, b: a + b,\n (1, 2),\n)"
    ),
    Mutation("parentheses", CORE, "a * b, (3, 4)", "(a * b), (3, 4)"),
    Mutation("other quotes", CORE, 'device = "cuda" if', "device = 'cuda' if"),
    Mutation("string in two parts", CORE, '"patched")', '"pat" "ched")'),
    Mutation("number spelt otherwise", CORE, "(5,)", "(0x5,)"),
    Mutation("methods in another order", CORE, ADD + MUL, MUL + ADD),
    Mutation(
        "helper moved in its file",
        CORE,
        GPU_RUNNER + STRICT,
        STRICT + GPU_RUNNER,
    ),
    Mutation(
        "helper moved to another file",
        CORE,
        STRICT,
        "from hardware import skip_if_strict\n\n\n",
        also=((HARDWARE, "import unittest\n", "import unittest\n\n\n" + STRICT),),
    ),
    Mutation("new helper", CORE, STRICT, "def unused(value):\n    return value\n\n\n" + STRICT),
    Mutation("new import", CORE, "import sys\n", "import math\nimport sys\n"),
    Mutation(
        "imports in another order", CORE, "import os\nimport sys\n", "import sys\nimport os\n"
    ),
    Mutation("return annotation", CORE, "def test_full(self):", "def test_full(self) -> None:"),
    Mutation(
        "table in another order",
        DYNAMIC,
        '    "test_add_dynamic": Failure(("cpu",), is_skip=True),\n'
        '    "test_mul_dynamic": Failure(("cpu", "cuda")),\n',
        '    "test_mul_dynamic": Failure(("cpu", "cuda")),\n'
        '    "test_add_dynamic": Failure(("cpu",), is_skip=True),\n',
    ),
    Mutation(
        "main block",
        MENTIONS,
        "self.assertEqual",
        "self.assertEqual",
        also=(
            (
                MENTIONS,
                '"core")\n',
                '"core")\n\n\nif __name__ == "__main__":\n    unittest.main()\n',
            ),
        ),
    ),
    Mutation("windows line ends", HELPERS, "\n", "\r\n", everywhere=True),
    Mutation(
        "neighbour not a test",
        HARDWARE,
        "def slow(fn):",
        "# Marks a long test.\ndef slow(fn):",
        discover=(CORE,),
    ),
)
