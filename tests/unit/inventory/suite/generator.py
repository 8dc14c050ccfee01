# SPDX-License-Identifier: Apache-2.0
"""A small generator of tests with the habits of large ones."""

import copy
import functools
import unittest


class Failure:
    def __init__(self, suffixes, is_skip=False, __test__=False):
        self.suffixes = suffixes
        self.is_skip = is_skip
        self.__test__ = __test__


def copy_tests(my_cls, other_cls, suffix, failures=None, xfail_prop=None):
    for name, value in my_cls.__dict__.items():
        if not name.startswith("test_"):
            continue

        @functools.wraps(value)
        def new_test(self, value=value):
            return value(self)

        new_test.__dict__ = copy.deepcopy(value.__dict__)
        if xfail_prop is not None and hasattr(value, xfail_prop):
            new_test = unittest.expectedFailure(new_test)
        entry = failures and failures.get(name)
        if entry is not None and suffix in entry.suffixes:
            mark = unittest.skip("listed") if entry.is_skip else unittest.expectedFailure
            new_test = mark(new_test)
        setattr(other_cls, f"{name}_{suffix}", new_test)


class parametrize:
    def __init__(self, names, values):
        self.names = [name.strip() for name in names.split(",")]
        self.values = list(values)

    def variants(self):
        for values in self.values:
            values = values if isinstance(values, tuple) else (values,)
            yield dict(zip(self.names, values, strict=True))

    def __call__(self, fn):
        fn.parametrize_fn = self.variants
        return fn


def instantiate_parametrized_tests(cls):
    for attribute in tuple(dir(cls)):
        method = getattr(cls, attribute)
        if not hasattr(method, "parametrize_fn"):
            continue
        delattr(cls, attribute)
        for parameters in method.parametrize_fn():

            def add(test, parameters):
                @functools.wraps(test)
                def instantiated(self, param_kwargs=parameters):
                    test(self, **param_kwargs)

                name = "_".join([test.__name__, *(f"{k}_{v}" for k, v in parameters.items())])
                assert not hasattr(cls, name), f"{name} is defined twice"
                setattr(cls, name, instantiated)

            add(method, parameters)
    return cls


def with_patches(cls, prefix, suffix, xfail_prop=None):
    made = type(f"{prefix}{cls.__name__}", cls.__bases__, {})
    made.__qualname__ = made.__name__
    for name in dir(cls):
        if not name.startswith("test_"):
            continue
        fn = getattr(cls, name)

        def patched(fn):
            @functools.wraps(fn)
            def _fn(*args, **kwargs):
                return fn(*args, **kwargs)

            return _fn

        new = patched(fn)
        new.__name__ = f"{name}{suffix}"
        if xfail_prop is not None and hasattr(fn, xfail_prop):
            new = unittest.expectedFailure(new)
        setattr(made, new.__name__, new)
    return made
