"""What PyTorch takes for the same, where it is installed with CUDA: beside run.py."""

import re
from collections.abc import Callable, Iterator
from typing import Any

_E4M3_MAX = 448.0


def times(case: dict[str, Any], say: Callable[[str], None]) -> Iterator[tuple[str, float]]:
    """Names and seconds of a call of each way that PyTorch has of `case`."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    sizes = [int(each) for each in re.findall(r"\d+", case["name"].rsplit(" ", 1)[1])]
    ways = _WAYS.get(case["group"])
    for name, make in (ways(torch, case["name"], sizes) if ways else {}).items():
        try:
            seconds = _time(torch, make())
        except Exception as error:  # what this version of PyTorch has no kernel for
            say(f"  {name:32} refused: {str(error).splitlines()[0][:100]}")
            continue
        yield name, seconds
        torch.cuda.empty_cache()


def _time(torch: Any, run: Callable[[], Any]) -> float:
    for _ in range(5):
        run()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    count = max(3, min(200, int(300 / max(start.elapsed_time(end), 1e-3))))
    start.record()
    for _ in range(count):
        run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / count / 1e3


def _products(torch: Any, name: str, sizes: list[int]) -> dict[str, Callable[[], Any]]:
    m, n, k = sizes
    f8 = torch.float8_e4m3fn

    def codes(*shape: int) -> Any:
        return (torch.randn(*shape, device="cuda") * 64).clamp(-448, 448).to(f8)

    def scaled(layout: str, result: Any) -> Callable[[], Any]:
        a, b = codes(m, k), codes(n, k)

        def ones(*shape: int) -> Any:
            return torch.full(shape, 0.01, device="cuda")

        scales = {
            "tensor": lambda: (ones(), ones()),
            "row": lambda: (ones(m, 1), ones(1, n)),
            # The left one is to be column-major.
            "block": lambda: (ones(k // 128, m).t(), ones(n // 128, k // 128).t()),
        }[layout]()
        more = {"scale_result": torch.ones((), device="cuda")} if result == f8 else {}
        return lambda: torch._scaled_mm(
            a, b.t(), scale_a=scales[0], scale_b=scales[1], out_dtype=result,
            use_fast_accum=layout != "block", **more,
        )  # fmt: skip

    def wide() -> Callable[[], Any]:
        a, b = (
            torch.randn(*each, device="cuda", dtype=torch.bfloat16) for each in ((m, k), (n, k))
        )
        return lambda: a @ b.t()

    return {
        "torch bf16": wide,
        "torch _scaled_mm": lambda: scaled("tensor", torch.bfloat16),
        "torch _scaled_mm to f8": lambda: scaled("tensor", f8),
        "torch _scaled_mm, row": lambda: scaled("row", torch.bfloat16),
        "torch _scaled_mm, 128 blocks": lambda: scaled("block", torch.bfloat16),
    }


def _quantizers(torch: Any, name: str, sizes: list[int]) -> dict[str, Callable[[], Any]]:
    kind = name.removeprefix("quantize ").rsplit(" ", 1)[0]
    rows, columns = sizes
    blocks = {"row": columns, "1x128": 128}.get(kind)

    def quantize(x: Any, given: Any) -> Any:
        wide = x.float()
        if blocks:
            amax = wide.view(rows, columns // blocks, blocks).abs().amax(-1, keepdim=True)
        else:
            amax = wide.abs().amax()
        scale = given if kind.startswith("delayed") else amax / _E4M3_MAX
        parts = wide.view(rows, columns // blocks, blocks) if blocks else wide
        codes = (parts / scale).clamp(-_E4M3_MAX, _E4M3_MAX).to(torch.float8_e4m3fn)
        codes = codes.view(rows, columns)
        turned = codes.t().contiguous() if kind.endswith("transposed") else None
        return None if "alone" in kind else codes, amax, scale, turned

    def make(function: Callable[..., Any]) -> Callable[[], Callable[[], Any]]:
        def made() -> Callable[[], Any]:
            x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
            scale = torch.full((), 0.015625, device="cuda")
            return lambda: function(x, scale)

        return made

    def copy() -> Callable[[], Any]:
        half = rows * columns * (4 if kind.endswith(", transposed") else 3) // 2
        source, target = (torch.empty(half, device="cuda", dtype=torch.uint8) for _ in range(2))
        return lambda: target.copy_(source)

    return {
        "torch": make(quantize),
        "torch.compile": make(torch.compile(quantize)),
        "torch copy of as many bytes": copy,
    }


def _steps(torch: Any, name: str, sizes: list[int]) -> dict[str, Callable[[], Any]]:
    if not name.startswith("MLP"):
        return {}
    tokens, width, inner = sizes

    def loss(up: Any, down: Any, x: Any, target: Any) -> Any:
        hidden = torch.nn.functional.gelu(x @ up, approximate="tanh")
        return (hidden @ down - target).float().square().mean()

    def made() -> Callable[[], Any]:
        shapes = ((width, inner), (inner, width), (tokens, width), (tokens, width))
        arrays = [
            (torch.randn(*each, device="cuda") * 0.02).to(torch.bfloat16).requires_grad_(index < 3)
            for index, each in enumerate(shapes)
        ]
        compiled = torch.compile(loss)
        return lambda: torch.autograd.grad(compiled(*arrays), arrays[:3])

    return {"torch.compile bf16": made}


def _attention(torch: Any, name: str, sizes: list[int]) -> dict[str, Callable[[], Any]]:
    batch, tokens, heads, depth = sizes

    def made() -> Callable[[], Any]:
        shape = (batch, heads, tokens, depth)
        q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        attend = torch.nn.functional.scaled_dot_product_attention
        return lambda: attend(q, k, v, is_causal=True)

    return {"torch SDPA bf16": made}


_WAYS: dict[str, Callable[..., dict[str, Callable[[], Any]]]] = {
    "products": _products,
    "quantizers": _quantizers,
    "steps": _steps,
    "attention": _attention,
}
