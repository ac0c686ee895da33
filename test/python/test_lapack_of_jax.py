"""`jax.numpy.linalg`, `jax.scipy.linalg`, `jax.lax.linalg`: native code gives what XLA:CPU gives.

XLA calls the LAPACK of scipy as well, so that signs and phases are the same too.
"""

import pickle
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import lapack_of_jax
import numpy as np
import pytest

import mlir_fp8

for _library in ("jax", "scipy"):
    if find_spec(_library) is None:
        pytest.skip(f"{_library} is not installed", allow_module_level=True)

_CASES = [
    pytest.param(letter, name, marks=[] if letter == "d" else [pytest.mark.exhaustive])
    for letter in lapack_of_jax.DTYPES
    for name in lapack_of_jax.FUNCTIONS | (lapack_of_jax.REAL_ONLY if letter in "sd" else {})
]
_MADE: dict[str, dict[str, Any]] = {}


def _names(letter: str, request: pytest.FixtureRequest) -> list[str]:
    """The functions of all tests selected."""
    cases = [
        item.callspec.params
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.function is test_as_xla_has_it
    ]
    return [str(case["name"]) for case in cases if case["letter"] == letter]


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Any:
    letter = request.node.callspec.params["letter"]
    if letter not in _MADE:
        file = tmp_path_factory.mktemp("jax") / "made"
        command = [sys.executable, lapack_of_jax.__file__, letter, file, *_names(letter, request)]
        subprocess.run(command, check=True, capture_output=True)
        _MADE[letter] = pickle.loads(file.read_bytes())
    return _MADE[letter]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("letter", "name"), _CASES)
def test_as_xla_has_it(letter: str, name: str, made: dict[str, Any]) -> None:
    text, arguments, wanted = made[name]
    got = mlir_fp8.compile(text)(*arguments)
    assert len(got) == len(wanted)
    for mine, theirs in zip(got, wanted, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_array_equal(np.isnan(mine), np.isnan(theirs))
        if mine.dtype.kind in "ib":
            np.testing.assert_array_equal(mine, theirs)
        elif mine.size:
            largest = np.max(np.abs(np.nan_to_num(theirs)), initial=1.0)
            epsilon = np.finfo(lapack_of_jax.DTYPES[letter]).eps
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=300 * epsilon * largest)
