"""Record what block formats give for all that can be counted, and who agrees.

    python test/exhaustive/blocks.py

Needs torchao for one judge. Scales are those of every exponent of f32 with the mantissas at and
around each change; codes those of every value of a format and of every midpoint, with neighbours
on both sides, in blocks of every scale; numbers those of all codes by all scales.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from results import save

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype

HERE = Path(__file__).parent
for folder in ("lowering/references", "python"):
    sys.path.insert(0, str(HERE.parent / folder))
from block_format_reference import FORMATS, microxcaling, nvfp4  # noqa: E402
from block_programs import scaling  # noqa: E402

ROUNDINGS = ("floor", "ceil", "even")
NVFP4 = "nvfp4"
_BLOCK = {NVFP4: 16}
_TORCHAO = {"floor": "FLOOR", "ceil": "RCEIL", "even": "EVEN"}
Codes = tuple[np.ndarray, np.ndarray]


def magnitudes() -> np.ndarray:
    """An amax of each exponent of f32, at and around where a scale of any format changes."""
    mantissas = {0, 1, 2**22, 2**23 - 1}
    for bits in (1, 2, 3):
        tie = (1 << 23) - (1 << (22 - bits))
        mantissas |= {tie - 1, tie, tie + 1}
    for *_, largest in FORMATS.values():
        at = int((largest / 2.0 ** (np.frexp(largest)[1] - 1) - 1) * 2**23)
        mantissas |= {at - 1, at, at + 1}
    exponents = np.arange(255, dtype=np.uint32)[:, None] << 23
    return (exponents | np.array(sorted(mantissas), np.uint32)).reshape(-1).view(np.float32)


def edges(format_: str) -> np.ndarray:
    """Every value and midpoint of a format, and the numbers beside them, of both signs."""
    bits = np.arange(256 if format_.startswith("f8") else 1 << int(format_[1]), dtype=np.uint8)
    values = bits.view(element_dtype(format_)).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    turns = np.concatenate([values, (values[1:] + values[:-1]) / 2]).astype(np.float32)
    infinity = np.float32(np.inf)
    beside = [np.nextafter(turns, -infinity), np.nextafter(turns, infinity)]
    return np.unique(np.concatenate([turns, *beside]))


def blocks_of(format_: str, scales: np.ndarray, block: int) -> np.ndarray:
    """Blocks that have each of `scales`, with all of `edges` in them."""
    largest = np.float32(FORMATS[format_][3])
    inside = edges(format_)
    inside = inside[np.abs(inside) <= largest]
    rows = np.pad(inside, (0, -inside.size % (block - 1))).reshape(-1, block - 1)
    rows = np.concatenate([rows, np.full((len(rows), 1), largest)], 1)
    with np.errstate(all="ignore"):
        made = rows[None] * scales[:, None, None].astype(np.float32)
    made = made.reshape(-1, block)
    return made[np.isfinite(made).all(1) & (np.abs(made).max(1) >= 2.0**-126)]


def ours(x: np.ndarray, format_: str, rule: str, block: int) -> Codes:
    codes, scales, *_ = scaling(x.shape, (1, block), format_, rule, None)(x)
    return codes.astype(np.float64), scales.view(np.uint8)


def by_microxcaling(x: np.ndarray, format_: str, rule: str, block: int) -> Codes:
    """Microsoft's formulas, in numpy and f64; NVIDIA's for NVFP4."""
    if rule == NVFP4:
        codes, scales, _ = nvfp4(x)
        return codes, scales.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    codes, exponents = microxcaling(x, format_, block, rule.removeprefix("mx_"))
    return codes, (exponents + 127).astype(np.uint8)


def by_torchao(x: np.ndarray, format_: str, rule: str, block: int) -> Codes:
    import torch  # pyright: ignore[reportMissingImports]
    from torchao.prototype.mx_formats import (  # pyright: ignore[reportMissingImports]
        mx_tensor,
        nvfp4_tensor,
    )
    from torchao.prototype.mx_formats.config import (  # pyright: ignore[reportMissingImports]
        ScaleCalculationMode,
    )

    given = torch.from_numpy(x)
    if rule == NVFP4:
        factor = nvfp4_tensor.per_tensor_amax_to_scale(given.abs().amax())
        scales, data = nvfp4_tensor.nvfp4_quantize(given, block, factor)
    else:
        element = {
            "f8E4M3FN": torch.float8_e4m3fn,
            "f8E5M2": torch.float8_e5m2,
            "f6E2M3FN": "fp6_e2m3",
            "f6E3M2FN": "fp6_e3m2",
            "f4E2M1FN": torch.float4_e2m1fn_x2,
        }[format_]
        mode = ScaleCalculationMode[_TORCHAO[rule.removeprefix("mx_")]]
        scales, data = mx_tensor.to_mx(given, element, block, mode)
    codes = data.view(torch.uint8).numpy()
    if format_ == "f4E2M1FN":
        codes = np.stack([codes & 15, codes >> 4], -1).reshape(x.shape)
    numbers = codes.view(element_dtype(format_)).astype(np.float64)
    return numbers, scales.view(torch.uint8).numpy()


def by_transformer_engine(x: np.ndarray, format_: str, rule: str, block: int) -> Codes:
    """`float_to_e8m0` and `exp2f_rcp` of common/util/ptx.cuh, in numpy: an amax times f32(1 / MAX),
    rounded up to a power of two; 1 stands for the inverse of the least scale."""
    parts = x.reshape(x.shape[0], -1, block)
    inverse = np.float32(1 / FORMATS[format_][3])
    with np.errstate(all="ignore"):
        bits = (np.abs(parts).max(-1) * inverse).astype(np.float32).view(np.uint32)
        code, mantissa = (bits >> 23).astype(np.int64), bits & 0x7FFFFF
        code += (mantissa > 0) & (code != 0xFE) & ~((code == 0) & (mantissa <= 0x400000))
        factor = ((254 - code) << 23).astype(np.uint32).view(np.float32)
        over = parts * np.where(code == 0, np.float32(1), factor)[..., None]
    largest = np.float32(FORMATS[format_][3])
    numbers = np.clip(over, -largest, largest).reshape(x.shape).astype(element_dtype(format_))
    return numbers.astype(np.float64), code.astype(np.uint8)


JUDGES: dict[str, Callable[[np.ndarray, str, str, int], Codes]] = {
    "microxcaling": by_microxcaling,
    "torchao": by_torchao,
    "transformer engine": by_transformer_engine,
}


def judges_of(format_: str, rule: str) -> list[str]:
    """TransformerEngine has MXFP8 with scales rounded up."""
    has_all = format_.startswith("f8") and rule == "mx_ceil"
    return [name for name in JUDGES if has_all or name != "transformer engine"]


def counted(format_: str, rule: str, judge: str) -> dict[str, dict[str, int]]:
    """Of scales and of codes, how many were tried, and in how many a judge differs."""
    block = _BLOCK.get(rule, 32)
    found: dict[str, dict[str, int]] = {}
    for kind, x in (
        ("scales", _of_scales(rule, block)),
        ("codes", _of_codes(format_, rule, block)),
    ):
        mine, theirs = ours(x, format_, rule, block), JUDGES[judge](x, format_, rule, block)
        which = 1 if kind == "scales" else 0
        a, b = (np.asarray(each[which]).reshape(-1) for each in (mine, theirs))
        found[kind] = {"cases": int(a.size), "wrong": int((a != b).sum())}
    return found


@cache
def _of_scales(rule: str, block: int) -> np.ndarray:
    amax = magnitudes()
    if rule == NVFP4:  # f8E4M3FN scales, of a tensor whose number is 1
        steps = np.linspace(0, 2688, 1 << 14, dtype=np.float32)
        amax = np.append(steps, np.float32(2688))
    x = np.zeros((amax.size, block), np.float32)
    x[np.arange(amax.size), np.arange(amax.size) % block] = amax
    return x


@cache
def _of_codes(format_: str, rule: str, block: int) -> np.ndarray:
    if rule == NVFP4:
        bits = np.arange(8, 127, dtype=np.uint8)  # from 2^-6 on, finite
        return blocks_of(format_, bits.view(ml_dtypes.float8_e4m3fn).astype(np.float32), block)
    return blocks_of(format_, np.exp2(np.arange(-127.0, 128)), block)


def decoded(format_: str, scale_element: str) -> dict[str, int]:
    """All codes by all scales, in f32: how many are not the product, rounded once."""
    rows = 256 if format_.startswith("f8") else 1 << int(format_[1])
    codes = np.arange(rows, dtype=np.uint8).view(element_dtype(format_)).reshape(-1, 1)
    codes = np.repeat(codes, 256, 1)
    scales = np.arange(256, dtype=np.uint8).view(element_dtype(scale_element))
    text = (
        f"func.func @main(%q: tensor<{rows}x256x{format_}>, %s: tensor<1x256x{scale_element}>)"
        f" -> tensor<{rows}x256xf32> {{"
        f' %0 = "fp8.dequantize"(%q, %s) : (tensor<{rows}x256x{format_}>,'
        f" tensor<1x256x{scale_element}>) -> tensor<{rows}x256xf32>"
        f" return %0 : tensor<{rows}x256xf32> }}"
    )
    (found,) = mlir_fp8.compile(text)(codes, scales.reshape(1, 256))
    with np.errstate(all="ignore"):
        exact = (codes.astype(np.float64) * scales.astype(np.float64)).astype(np.float32)
    same = (found == exact) | (np.isnan(found) & np.isnan(exact))
    return {"cases": int(same.size), "wrong": int((~same).sum())}


def results() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for format_ in FORMATS:
        for rounding in ROUNDINGS:
            rule = f"mx_{rounding}"
            made[f"{format_} {rounding}"] = {
                "decoded": decoded(format_, "f8E8M0FNU"),
                **{judge: counted(format_, rule, judge) for judge in judges_of(format_, rule)},
            }
    made["NVFP4"] = {
        "decoded": decoded("f4E2M1FN", "f8E4M3FN"),
        **{judge: counted("f4E2M1FN", NVFP4, judge) for judge in judges_of("f4E2M1FN", NVFP4)},
    }
    return made


if __name__ == "__main__":
    save(HERE / "results" / "blocks.json", results())
