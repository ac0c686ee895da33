"""Gradients of attention on a card: values held to their bound, and times beside PyTorch's.

    python test/exhaustive/attention_backward_on_gpu.py make FOLDER
    python FOLDER/attention_backward_on_gpu.py run FOLDER [--only=PART]
    python FOLDER/attention_backward_on_gpu.py time FOLDER [--only=PART]

`make` needs this project; it puts an artifact, its operands, the gradients without rounding and
their bounds for each case into FOLDER, artifacts alone of what is timed, and copies of this file
and attention_on_gpu.py. `run` and `time` need jax with CUDA and numpy; `time` takes torch where it
is there. `run` prints, for each case, the largest distance as a share of the bound, and whether a
second run gives the same bits; it exits with 1 where a value is off. Not a test that pytest runs;
test_attention_on_gpu.py makes a small case.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attention_on_gpu
import numpy as np

SUMS = 2.0**-18
"""What the tensor core's sums of bf16 are off by, as a share of the sum of magnitudes."""
CAUSAL = {"causal": True}
CASES: Mapping[str, Mapping[str, Any]] = {
    "plain": {"sizes": (1, 2, 2, 512, 512, 128, 128)},
    "causal": {"sizes": (1, 2, 2, 1100, 1100, 128, 128), **CAUSAL},
    "causal_64": {"sizes": (1, 2, 2, 1024, 1024, 64, 64), **CAUSAL},
    "odd": {"sizes": (1, 2, 2, 333, 1001, 80, 72), "element": "f16"},
    "causal_odd": {"sizes": (1, 2, 2, 601, 777, 96, 128), **CAUSAL},
    "causal_rows": {"sizes": (1, 2, 2, 900, 200, 128, 128), **CAUSAL},
    "shared": {"sizes": (1, 4, 2, 700, 700, 128, 128)},
    "causal_shared": {"sizes": (1, 4, 2, 700, 700, 128, 128), **CAUSAL},
    "few": {"sizes": (2, 3, 3, 5, 40, 64, 64)},
    "many_heads": {"sizes": (1, 150, 150, 70, 70, 32, 32), **CAUSAL},
}  # fmt: skip
TIMED: Mapping[str, Mapping[str, Any]] = {
    "4x2048x32x128": {"sizes": (4, 32, 32, 2048, 2048, 128, 128)},
    "4x2048x32x128_causal": {"sizes": (4, 32, 32, 2048, 2048, 128, 128), **CAUSAL},
    "1x8192x32x128_causal": {"sizes": (1, 32, 32, 8192, 8192, 128, 128), **CAUSAL},
    "4x2048x32x64_causal": {"sizes": (4, 32, 32, 2048, 2048, 64, 64), **CAUSAL},
}
FORMS: Mapping[str, Mapping[str, Any]] = {
    f"{of}_{held}_{stages}": {"of": of, "held_stages": held, "stages": stages}
    for of in ("keys", "queries")
    for held, stages in ((1, 2), (1, 3), (1, 4), (2, 2))
}
"""Of each kernel, how many stages it has of what it holds, and of what goes by."""


def make(folder: Path, only: str = "") -> None:
    """Write the cases whose names have `only` in them."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (__file__, attention_on_gpu.__file__):
        shutil.copyfile(str(file), folder / Path(str(file)).name)
    sys.path.insert(0, str(Path(__file__).parents[1] / "lowering" / "references"))
    for name, case in CASES.items():
        if only in name:
            _make(folder / name, dict(case))
            print(name, flush=True)
    for name, case in TIMED.items():
        if only in name:
            _make_timed(folder / "timed" / name, dict(case))
            print("timed", name, flush=True)


def _make(stem: Path, case: dict[str, Any]) -> None:
    import gpu_attention_backward as reference

    import mlir_fp8

    shape = _shape(case)
    given = reference.given(shape)
    out = reference.out_of(shape, given)
    operands = [given.q, given.k, given.v, out, given.do, given.lse]
    delta = (out.astype(np.float64) * given.do.astype(np.float64)).sum(-1)
    expected = reference.exact(shape, reference.with_delta(given, delta), SUMS)
    stem.with_suffix(".mlirbc").write_bytes(mlir_fp8.serialize(_module(shape)))
    held = {f"operand{i}": np.ascontiguousarray(x).view(np.uint8) for i, x in enumerate(operands)}
    for name, (wanted, bound) in expected.items():
        held |= {name: wanted.astype(np.float32), f"{name}_bound": bound.astype(np.float32)}
    np.savez(stem.with_suffix(".npz"), allow_pickle=False, element=shape.element, **held)


def _shape(case: dict[str, Any]) -> Any:
    from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import AttentionBackward

    sizes = case.pop("sizes")
    return AttentionBackward(*sizes, scale=sizes[5] ** -0.5, **case)


def _types(shape: Any) -> list[str]:
    """Of q, k, v, out, the gradient of out, and lse."""
    of_queries, of_keys = (
        f"{shape.batch}x{each}"
        for each in (f"{shape.heads}x{shape.rows}", f"{shape.shared}x{shape.keys}")
    )
    pairs = (
        (of_queries, shape.depth), (of_keys, shape.depth), (of_keys, shape.width),
        (of_queries, shape.width), (of_queries, shape.width),
    )  # fmt: skip
    return [*(f"{rows}x{size}x{shape.element}" for rows, size in pairs), f"{of_queries}xf32"]


def _module(shape: Any) -> Any:
    """The op on arguments, which kernels compute."""
    import mlir_fp8
    from mlir_fp8.passes.pass_pipeline import run_pipeline

    types = [f"tensor<{each}>" for each in _types(shape)]
    taken = ", ".join(f"%x{i}: {each}" for i, each in enumerate(types))
    made, values = ", ".join(types[:3]), ", ".join(f"%x{i}" for i in range(6))
    flags = f"scale = {shape.scale:.9e} : f32" + ", causal" * shape.causal
    module = mlir_fp8.load(
        f"func.func @main({taken}) -> ({made}) {{\n"
        f'%0:3 = "fp8.attention_backward"({values}) {{{flags}}} : ({", ".join(types)}) -> '
        f"({made})\nreturn %0#0, %0#1, %0#2 : {made}\n}}"
    )
    run_pipeline(module, ["fp8-kernels-for-xla-gpu{attention=true}"])
    return module


def _make_timed(stem: Path, case: dict[str, Any]) -> None:
    """The gradients as one module, each kernel in its forms, and the attention of codes."""
    import dataclasses

    import mlir_fp8
    from mlir_fp8.lowering.gpu.kernels.attention.kernel import attention_kernel
    from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention
    from mlir_fp8.lowering.gpu.kernels.attention_backward.kernel import attention_backward_kernel

    stem.parent.mkdir(exist_ok=True)
    shape = _shape(dict(case))
    q, k, v, _, gradient, _ = _types(shape)
    rows = f"{shape.batch}x{shape.heads}x{shape.stored_rows}xf32"

    def write(name: str, module: Any) -> None:
        Path(f"{stem}.{name}.mlirbc").write_bytes(mlir_fp8.serialize(module))

    write("gradients", _module(shape))
    for name, form in FORMS.items():
        one = dataclasses.replace(shape, **form)
        results = [k, v] if one.is_of_keys else [q]
        kernel = attention_backward_kernel(one)
        taken = [q, k, v, gradient, rows, rows]
        write(name, attention_on_gpu.kernel_module(kernel, taken, results, one.workspace))
    forward = Attention(*case["sizes"], causal=shape.causal, lse=True)
    heads = f"{shape.batch}x{shape.heads}"
    codes = [each.replace(shape.element, "ui8") for each in (q, k)]
    codes.append(f"{shape.batch}x{shape.shared}x{shape.width}x{shape.keys}xui8")
    results = [f"{forward.result_bytes}xui8", f"{heads}x{shape.rows}xf32"]
    taken = [*codes, f"{heads}xf32", f"{heads}xf32"]
    kernel = attention_kernel(forward)
    write("forward", attention_on_gpu.kernel_module(kernel, taken, results, forward.workspace))


def run(folder: Path, only: str = "") -> int:
    """How many cases are off; needs no part of this project."""
    import ml_dtypes

    wrong = 0
    for file in sorted(each for each in folder.glob("*.mlirbc") if only in each.stem):
        held = np.load(file.with_suffix(".npz"))
        element = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}[str(held["element"])]
        operands = [held[f"operand{i}"].view(np.float32 if i == 5 else element) for i in range(6)]
        first, second = attention_on_gpu.on_card(file, operands)
        shares = []
        for name, got in zip(("dq", "dk", "dv"), first, strict=True):
            far = np.abs(np.asarray(got).astype(np.float64) - held[name])
            shares.append(
                float(np.max(np.where(np.isfinite(far), far / held[f"{name}_bound"], np.inf)))
            )
        is_same = all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))
        is_wrong = not max(shares) <= 1 or not is_same
        wrong += is_wrong
        listed = ", ".join(f"{each:.3f}" for each in shares)
        same, said = "the same" if is_same else "other", "WRONG" if is_wrong else "right"
        print(f"{file.stem:16} {listed} of the bounds, {same} bits again: {said}", flush=True)
    return wrong


def timed(folder: Path, only: str = "") -> None:
    """Prints the times of all that is timed, and of PyTorch's."""
    import jax  # pyright: ignore[reportMissingImports]
    import ml_dtypes

    for name, case in TIMED.items():
        if only not in name:
            continue
        work = _work(case)
        for file in sorted((folder / "timed").glob(f"{name}.*.mlirbc")):
            form = file.stem.removeprefix(f"{name}.")
            go, _ = attention_on_gpu.loaded(file, [])
            random = np.random.default_rng(0)
            taken = []
            for sizes, kind in _operands(case, form):
                x = random.standard_normal(sizes, np.float32) if kind != "f32" else np.ones(sizes)
                dtype = {"bf16": ml_dtypes.bfloat16, "f8": ml_dtypes.float8_e4m3fn}.get(kind, "f4")
                x = x.astype(dtype)
                taken.append(jax.device_put(x.view(np.uint8) if kind == "f8" else x))
            seconds = _seconds(lambda go=go, taken=taken: go(taken)[0])
            products = {"f": 2, "g": 5, "k": 4, "q": 3}[form[0]]
            rate = products * work / seconds / 1e12
            print(f"{name:22} {form:14} {1e6 * seconds:8.1f} us {rate:7.1f} TFLOP/s", flush=True)
        for form, seconds in _of_torch(case):
            rate = {"f": 2, "b": 5}[form[6]] * work / seconds / 1e12
            print(f"{name:22} {form:14} {1e6 * seconds:8.1f} us {rate:7.1f} TFLOP/s", flush=True)


def _work(case: Mapping[str, Any]) -> float:
    """FLOP of one product."""
    batch, heads, _, rows, keys, depth, _ = case["sizes"]
    return 2.0 * batch * heads * rows * keys * depth / (2 if case.get("causal") else 1)


def _operands(case: Mapping[str, Any], form: str) -> list[tuple[tuple[int, ...], str]]:
    batch, heads, shared, rows, keys, depth, width = case["sizes"]
    q, k, v = (
        (batch, heads, rows, depth),
        (batch, shared, keys, depth),
        (batch, shared, keys, width),
    )
    out, lse = (batch, heads, rows, width), (batch, heads, rows)
    if form == "forward":
        turned = (batch, shared, width, keys)
        return [*((each, "f8") for each in (q, k, turned)), *[((batch, heads), "f32")] * 2]
    if form == "gradients":
        return [*((each, "bf16") for each in (q, k, v, out, out)), (lse, "f32")]
    stored = (*lse[:2], -(-rows // 128) * 128)
    return [*((each, "bf16") for each in (q, k, v, out)), *[(stored, "f32")] * 2]


def _seconds(go: Callable[[], Any], times: int = 20) -> float:
    """The least of a few means."""
    go().block_until_ready()
    found = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(times - 1):
            go()
        go().block_until_ready()
        found.append((time.perf_counter() - start) / times)
    return min(found)


def _of_torch(case: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Seconds of PyTorch's attention and its gradients in bf16."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        return
    batch, heads, shared, rows, keys, depth, width = case["sizes"]
    shapes = [
        (batch, heads, rows, depth),
        (batch, shared, keys, depth),
        (batch, shared, keys, width),
    ]
    q, k, v = (
        torch.randn(*each, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        for each in shapes
    )
    forward = torch.nn.functional.scaled_dot_product_attention
    is_causal = bool(case.get("causal"))
    gradient = torch.randn(batch, heads, rows, width, device="cuda", dtype=torch.bfloat16)

    def seconds(go: Callable[[], Any]) -> float:
        go()
        found = []
        for _ in range(5):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(20):
                go()
            torch.cuda.synchronize()
            found.append((time.perf_counter() - start) / 20)
        return min(found)

    yield "torch_forward", seconds(lambda: forward(q, k, v, is_causal=is_causal))
    out = forward(q, k, v, is_causal=is_causal)
    yield (
        "torch_backward",
        seconds(lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True)),
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=("make", "run", "time"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    if options.action == "run":
        return min(run(options.folder, options.only), 1)
    {"make": make, "time": timed}[options.action](options.folder, options.only)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
