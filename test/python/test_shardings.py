"""JAX programs on eight devices of the CPU: by XLA as they are, and after our passes."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sharded_programs

import mlir_fp8
from mlir_fp8.passes.pass_pipeline import run_pipeline

pytest.importorskip("jax")

WIRE = "fp8-quantize-collectives{min-bytes=0"
DOTS = "fp8-quantize-dots{recipe=current}"
FORMS: dict[str, tuple[list[str], float]] = {
    "loaded": ([], 0.0),
    "dots": ([DOTS], 0.15),
    "dots_of_each": (["fp8-quantize-dots{recipe=current shards=each}"], 0.15),
    "rows_of_dots": (["fp8-quantize-dots{recipe=current per=row}"], 0.15),
    "int8": (["fp8-quantize-dots{recipe=int8}"], 0.1),
    "tensor": ([WIRE + "}"], 0.13),
    "row": ([WIRE + " scales=row}"], 0.13),
    "shard": ([WIRE + " scales=shard}"], 0.13),
    "bits": ([WIRE + " as-bits backward=f8E4M3FN}"], 0.12),
    "both": ([WIRE + "}", DOTS], 0.15),
    "dots_first": ([DOTS, WIRE + "}"], 0.15),
    "rows_and_dots": ([WIRE + " scales=row}", DOTS], 0.15),
    "delayed": (["fp8-quantize-dots{history=2}"], 0.15),
    "feedback": ([WIRE + " error-feedback}"], 0.13),
}
"""Passes, and how far results may be: a rounding to E5M2 is of one part in 8, to E4M3 in 16."""
QUICK = {
    ("gspmd_manual", "both"),
    ("resharded", "loaded"),
    ("resharded", "both"),
    ("fsdp", "both"),
    ("experts", "bits"),
}
Traced = dict[str, tuple[str, list[np.ndarray]]]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return sharded_programs.traced(tmp_path_factory.mktemp("traced"))


def rewritten(text: str, passes: list[str]) -> str:
    module = mlir_fp8.load(text)
    run_pipeline(module, [*passes, "fp8-legalize-to-stablehlo"])
    # What is written is what is compiled.
    return str(mlir_fp8.load(mlir_fp8.serialize(module)))


def first_state(text: str) -> list[np.ndarray]:
    """The state of before the first step."""
    found = re.findall(
        r"tensor<((?:\d+x)*)f32> \{(?:(?!tensor<).)*?mlir_fp8.initial_value = (\S+) :", text
    )
    sizes = ([int(size) for size in shape.split("x") if size] for shape, _ in found)
    pairs = zip(sizes, found, strict=True)
    return [np.full(shape, float(value), np.float32) for shape, (_, value) in pairs]


def distances(programs: Traced, forms: list[tuple[str, str]], folder: Path) -> dict[Any, Any]:
    """Of each program and form, how far results are from those of the program as it is."""
    modules = {f"{name}.as_is": programs[name] for name, _ in forms}
    for name, form in forms:
        text = rewritten(programs[name][0], FORMS[form][0])
        modules[f"{name}.{form}"] = (text, [*programs[name][1], *first_state(text)])
    made = sharded_programs.run(folder, modules)
    found: dict[Any, Any] = {}
    for name, form in forms:
        want, (got, hlo) = made[f"{name}.as_is"][0], made[f"{name}.{form}"]
        pairs = zip(got, want, strict=False)
        far = [float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in pairs]
        found[name, form] = (max(far), hlo)
    return found


def check(found: dict[Any, Any]) -> None:
    for (name, form), (far, _) in found.items():
        bound = FORMS[form][1]
        assert far <= bound, (name, form, far)
        is_same = form in ("loaded", "delayed") or name == "sums"  # without state in computations
        assert is_same or far > 0, (name, form)


def test_values_on_eight_devices(programs: Traced, tmp_path: Path) -> None:
    found = distances(programs, sorted(QUICK), tmp_path)
    check(found)
    exchanged = re.findall(r"= \((\w+)\[[^ ]* .*all-to-all\(", found["experts", "bits"][1])
    assert exchanged and set(exchanged) == {"u8"}
    assert re.search(r"= f16\[128,256\]\S* all-gather\(", found["fsdp", "both"][1])  # XLA:CPU's f8


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_every_program(programs: Traced, tmp_path: Path, form: str) -> None:
    check(distances(programs, [(name, form) for name in programs if name != "train"], tmp_path))


@pytest.mark.exhaustive
def test_feedback_makes_the_mean_of_steps_right(programs: Traced, tmp_path: Path) -> None:
    forms = [(name, form) for name in ("sums", "fsdp_step") for form in ("tensor", "feedback")]
    found = distances(programs, forms, tmp_path)
    assert found["sums", "feedback"][0] < found["sums", "tensor"][0] / 4
    assert found["fsdp_step", "feedback"][0] < found["fsdp_step", "tensor"][0]


def test_quantize_before_and_after_the_dots_is_the_same(programs: Traced) -> None:
    for name in ("fsdp", "sequence_parallel"):
        texts = [rewritten(programs[name][0], FORMS[form][0]) for form in ("both", "dots_first")]
        gathered = [re.findall(r"all_gather.*-> (tensor<\S+>)", text) for text in texts]
        dots = [re.findall(r"dot_general.* : \((.*)\) ->", text) for text in texts]
        assert gathered[0] == gathered[1] and dots[0] == dots[1]
        assert all("f8E4M3FN" in each for each in [*gathered[0], *dots[0]])


@pytest.mark.exhaustive
def test_training_with_gradients_in_fp8(programs: Traced, tmp_path: Path) -> None:
    """The loss after 200 steps is within 0.5 percent of that with gradients in f32."""
    text, arrays = programs["train"]
    forms = {
        "f32": [],
        "plain": [WIRE + " backward=f8E4M3FN}"],
        "feedback": [WIRE + " backward=f8E4M3FN error-feedback}"],
    }
    modules = {}
    for form, passes in forms.items():
        made = rewritten(text, passes)
        modules[form] = (made, [*arrays, *first_state(made)])
    losses = {
        form: each
        for form, ((each,), _) in sharded_programs.run(tmp_path, modules, "train").items()
    }
    last = {form: float(each[-10:].mean()) for form, each in losses.items()}
    assert last["f32"] < 0.7 * losses["f32"][0]
    assert abs(last["feedback"] / last["f32"] - 1) < 0.005, last
    assert abs(last["plain"] / last["f32"] - 1) < 0.05, last


@pytest.mark.exhaustive
def test_infinities_are_not_lost(programs: Traced, tmp_path: Path) -> None:
    """All that shares a scale with one is NaN, on every device."""
    text, (array,) = programs["sums"]
    array = array.copy()
    array[3, 5] = np.inf
    modules = {
        form: (rewritten(text, FORMS[form][0]), [array]) for form in ("tensor", "row", "shard")
    }
    for (result,), _ in sharded_programs.run(tmp_path, modules).values():
        assert np.isnan(result[:, 5]).any() and not np.isinf(result).any()
