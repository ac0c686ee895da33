"""Real programs, from each form they come in, against the results that XLA:CPU gave for them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from kernel_products import without_tiles
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored

MODELS = Path(__file__).parent.parent / "models"
TOLERANCE = 1e-5
OLDEST = "0.9.0"
NAMES = ("mlp_delayed_scaling", "transformer_forward", "transformer_train_step")
FILES = sorted(path.name for path in MODELS.iterdir() if path.name.endswith((".mlir", ".mlirbc")))


def arrays(name: str, which: str) -> Mapping[str, np.ndarray]:
    return dict(restored(np.load(MODELS / f"{name}.{which}.npz")))


def relative_l2(got: np.ndarray, want: np.ndarray) -> float:
    got, want = got.astype(np.float64), want.astype(np.float64)
    distance = np.linalg.norm((got - want).ravel())
    return 0.0 if distance == 0 else float(distance / np.linalg.norm(want.ravel()))


def test_the_models_are_there() -> None:
    assert len(FILES) == 8


def assert_gives_the_results(module: ir.Module, name: str) -> None:
    given, wanted = arrays(name, "in"), arrays(name, "out")
    with without_tiles():  # which round bf16 results elsewhere: their sums have another order
        results = mlir_fp8.compile(module)(*given.values())
    assert len(results) == len(wanted)
    for got, want in zip(results, wanted.values(), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
    far = {
        key: distance
        for (key, want), got in zip(wanted.items(), results, strict=True)
        if not (distance := relative_l2(got, want)) <= TOLERANCE
    }
    assert not far


def there_and_back(module: ir.Module, target: str) -> ir.Module:
    before = str(module)
    artifact = mlir_fp8.serialize(module, target)
    assert str(module) == before
    return mlir_fp8.deserialize(artifact)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=[pytest.mark.exhaustive] if "train_step" in file else [])
        for file in FILES
    ],
)
def test_results(file: str) -> None:
    assert_gives_the_results(mlir_fp8.load(MODELS / file), file.partition(".")[0])


@pytest.mark.parametrize(
    "name", [NAMES[0], *(pytest.param(each, marks=pytest.mark.exhaustive) for each in NAMES[1:])]
)
def test_results_by_way_of_the_oldest_version(name: str) -> None:
    module = there_and_back(mlir_fp8.load(MODELS / f"{name}.mlirbc"), OLDEST)
    assert_gives_the_results(module, name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("file", FILES)
def test_an_artifact_is_the_module(file: str) -> None:
    # The first way spells out what the text leaves to defaults, and the other way round.
    module = there_and_back(mlir_fp8.load(MODELS / file), "current")
    assert str(there_and_back(module, "current")) == str(module)


# 0.9.0 knows no batching dimensions of gather and scatter, which the training step has: they become
# indices there. All else is the same module.
@pytest.mark.parametrize("name", ["mlp_delayed_scaling", "transformer_forward"])
def test_an_artifact_of_the_oldest_version_is_the_module(name: str) -> None:
    module = mlir_fp8.load(MODELS / f"{name}.mlirbc")
    assert str(there_and_back(module, OLDEST)) == str(module)
