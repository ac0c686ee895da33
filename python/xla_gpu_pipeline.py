"""`quantize-for-xla-gpu-pipeline`: from wide floats to StableHLO that XLA:GPU runs as FP8."""

import dataclasses
from collections.abc import Mapping

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering import pass_class

NAME = "quantize-for-xla-gpu-pipeline"
TARGET = "xla-gpu"
_PASSES = ("fp8-quantize-dots", "fp8-canonicalize-for-xla-gpu")
_KERNELS = "fp8-kernels-for-xla-gpu"
FUSED = (
    "fp8-fuse-attention-gradients",
    "fp8-fuse-attention{allow-excess-precision=true}",
    "fp8-fuse-scaled-dot",
)
"""What finds FP8 that is there already; all but the last, where attention is asked for."""
MOVED = ("stablehlo-added-pads-to-concatenate", "stablehlo-slice-before-transpose")
"""What lets XLA move less between dots and kernels."""
_OF_BLOCKS = ("mx", "nvfp4")
_INTEGERS = "int8"
DEFAULTS = {"power-of-two": "true", "layouts": "true"}
"""Where the pipeline differs from its passes."""


def quantize_for_xla_gpu(options: Mapping[str, str | None] | None = None) -> list[str]:
    """Fuse what is FP8 already, quantize the rest, write what XLA:GPU matches, in StableHLO.

    `options` are those of `fp8-quantize-dots` and `fp8-canonicalize-for-xla-gpu`, as text; scales
    are powers of two unless `power-of-two` is false. With `kernels`, a target of
    `fp8-kernels-for-xla-gpu`, our kernels are put in; with `attention` beside it those of attention
    and its gradients too, of which the first is quantized before. Raises `Fp8Error` for an unknown
    option.
    """
    if (options or {}).get("recipe") == _INTEGERS:
        way_out = f"run fp8-quantize-dots{{recipe={_INTEGERS}}} alone"
        raise Fp8Error(f"recipe is {_INTEGERS}, whose StableHLO XLA runs as it is: {way_out}")
    defaults = dict(DEFAULTS)
    if (options or {}).get("recipe") in _OF_BLOCKS:  # whose scales are what they are
        del defaults["power-of-two"]
    given: dict[str, str | None] = {**defaults, **(options or {})}
    kernels = given.pop("kernels", "")
    if kernels is None:
        raise Fp8Error(f"option 'kernels' of '{NAME}' is a card: kernels=h200")
    attention = _attention(given)
    if attention and not kernels:
        raise Fp8Error(f"option 'attention' of '{NAME}' wants a card for its kernel: kernels=h200")
    known = {name: _option_names(name) for name in _PASSES}
    for option in given:
        if not any(option in names for names in known.values()):
            listed = ", ".join(
                ("kernels", "attention", *(each for names in known.values() for each in names))
            )
            raise Fp8Error(f"pipeline '{NAME}' has no option '{option}' (options: {listed})")
    quantize, canonicalize = (_with_options(name, names, given) for name, names in known.items())
    plain = ["hlo-legalize-to-stablehlo", "arith-constant-to-stablehlo"]
    found = FUSED if attention else FUSED[-1:]
    return [*plain, *found, quantize, *to_xla_gpu(canonicalize, kernels, attention)]


def _attention(given: dict[str, str | None]) -> str:
    """The pass that the flag `attention`, which is taken out of `given`, asks for; or nothing."""
    text = given.pop("attention", "false")
    if text not in (None, "true", "false"):
        raise Fp8Error(f"option 'attention' of '{NAME}' is true or false, not '{text}'")
    if text == "false":
        return ""
    return attention_quantization(power_of_two=given.get("power-of-two") != "false")


def attention_quantization(*, power_of_two: bool) -> str:
    """`fp8-quantize-attention` as the pipeline has it."""
    return f"fp8-quantize-attention{{power-of-two={str(power_of_two).lower()}}}"


def to_xla_gpu(canonicalize: str, kernels: str = "", attention: str = "") -> list[str]:
    """Scaled products to StableHLO that XLA:GPU matches, by the pass `canonicalize`.

    `kernels` is the card whose kernels come first, none if it is empty; `attention` the pass that
    quantizes attention for its kernel, which is then put in whatever the times.
    """
    put_in = [*MOVED, f"{_KERNELS}{{target={kernels}}}"] if kernels else []
    if attention:
        put_in = [*MOVED, attention, f"{_KERNELS}{{target={kernels} attention=true}}"]
    # Dots with scales of blocks, which no GEMM of cuBLASLt's FP8 is made of.
    blocks = "fp8-to-block-scaled-dot"
    return [*put_in, blocks, canonicalize, "lower-to-stablehlo-pipeline"]


def canonicalization(*, allow_reassociation: bool, allow_excess_precision: bool) -> str:
    """`fp8-canonicalize-for-xla-gpu` as the pipeline has it."""
    options = {
        "allow-reassociation": str(allow_reassociation).lower(),
        "allow-excess-precision": str(allow_excess_precision).lower(),
        "layouts": "true",
    }
    return _with_options(_PASSES[1], list(options), options)


def _option_names(name: str) -> list[str]:
    return [each.name.replace("_", "-") for each in dataclasses.fields(pass_class(name))]


def _with_options(name: str, known: list[str], given: Mapping[str, str | None]) -> str:
    own = {option: given[option] for option in known if option in given}
    written = " ".join(key if value is None else f"{key}={value}" for key, value in own.items())
    return f"{name}{{{written}}}" if written else name
