"""Recipes: how a tensor's scale follows from the largest magnitudes (amax) seen in it.

A scale is the multiplier that dequantizes: x is about q * scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

import numpy as np

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS, PRODUCT_FAMILIES
from mlir_fp8.dialects.scaling_recipes import ALGORITHMS, DELAYED_RECIPES
from mlir_fp8.dialects.scaling_recipes import RECIPES as UPDATE_RECIPES
from mlir_fp8.lowering.fp8.ops.power_of_two import to_power_of_two
from mlir_fp8.lowering.fp8.scaling.block_recipes import (
    MX_BLOCK,
    BlockFormatRecipe,
    MXScaling,
    NVFP4Scaling,
    check_word,
)
from mlir_fp8.lowering.fp8.scaling.int8_recipe import Int8Scaling

BLOCK, MX, NVFP4, INT8 = "block", "mx", "nvfp4", "int8"
RECIPES = ("delayed", *UPDATE_RECIPES, BLOCK, MX, NVFP4, INT8)
"""What a recipe may be called where it is a string; `delayed` is that of flax."""
WEIGHT_ONLY = "weight_only"
"""What `WeightOnly` may be called where weights are quantized."""

_MARGIN_LIMIT = 126
_LEAST_SCALE = 2.0**-126
_HISTORY_LIMIT = 2**24


@dataclass(frozen=True, kw_only=True)
class _Formats:
    forward: str = "f8E4M3FN"
    backward: str = "f8E5M2"
    margin: float = 0
    power_of_two: bool = False

    def __post_init__(self) -> None:
        for which in ("forward", "backward"):
            check_format(which, getattr(self, which))
        _check_pair(self.forward, self.backward)
        if not isinstance(self.margin, Real) or not abs(self.margin) <= _MARGIN_LIMIT:
            limits = f"-{_MARGIN_LIMIT} and {_MARGIN_LIMIT}"
            raise Fp8Error(f"margin is {self.margin}: it is a number between {limits}")
        if not isinstance(self.power_of_two, bool):
            raise Fp8Error(f"power_of_two is {self.power_of_two!r}: it is True or False")

    def format_of(self, *, is_gradient: bool) -> str:
        return self.backward if is_gradient else self.forward


@dataclass(frozen=True, kw_only=True)
class DelayedScaling(_Formats):
    """A step's scales are those of the steps before, so that no tensor is read twice.

    Each quantized tensor has a scale (f32, 1 at first) and a history of the amax of `history` steps
    (f32, 0 at first). `scale = amax / max(format) * 2**margin`, where amax is the largest of the
    history, or by `algorithm="most_recent"` the newest; it stays what it was where that amax is 0,
    infinite or NaN. The `order` of things is that of

    - "flax": the new scale comes from the history of the steps before, is used in this step, and
      then this step's amax enters the history in place of the oldest;
    - "transformer_engine": the scale made by the step before is used, this step's amax enters the
      history, and the new scale comes from it.

    `forward` is the format of activations and weights, `backward` that of gradients. With
    `power_of_two` scales are rounded up to powers of two, from 2^-50 to 2^63: those of the state
    too, before they are used.
    """

    history: int = 1024
    algorithm: str = "max"
    order: str = "flax"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.history, Integral) or not 1 <= self.history <= _HISTORY_LIMIT:
            limits = f"1 to {_HISTORY_LIMIT}"
            raise Fp8Error(f"history is {self.history}: it is the number of steps, {limits}")
        check_word("algorithm", self.algorithm, ALGORITHMS)
        check_word("order", self.order, DELAYED_RECIPES)


@dataclass(frozen=True, kw_only=True)
class CurrentScaling(_Formats):
    """The scale is made of the tensor itself: `amax / max(format) * 2**margin`.

    It is 1 where amax is 0, infinite or NaN. There is no state; each tensor is read twice. With
    `power_of_two` it is rounded up to a power of two, from 2^-50 to 2^63.
    `per` is "tensor", or "row": all that a product sums for one result has a scale of its own, as
    each token in a matrix of tokens. `shards` is "all", or "each": in computations on one device's
    part of a tensor, a scale is that of all parts, or each device has its own.
    """

    per: str = "tensor"
    shards: str = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_word("per", self.per, ("tensor", "row"))
        check_word("shards", self.shards, ("all", "each"))


@dataclass(frozen=True, kw_only=True)
class BlockScaling(_Formats):
    """Each block of a tensor has the scale of its own amax, as by `CurrentScaling`.

    As TransformerEngine's `Float8BlockScaling` and DeepSeek-V3 (arXiv:2412.19437, 3.3.1): weights
    have a scale for each 128x128, all else, gradients too, for each 1x128 along what a dot
    contracts; what is contracted both ways is quantized twice. By default scales are rounded up to
    powers of two, and gradients are f8E4M3FN too.
    """

    per: ClassVar[str] = "block"
    backward: str = "f8E4M3FN"
    power_of_two: bool = True


@dataclass(frozen=True, kw_only=True)
class WeightOnly:
    """Weights are f8 with scales of their own, everything else stays as wide as it is.

    `forward` is the format of weights. Products multiply the wide operand by the codes.
    """

    forward: str = "f8E4M3FN"

    def __post_init__(self) -> None:
        check_format("forward", self.forward)


class Scales(Protocol):
    """Scales by the names of quantized tensors, as `mlir_fp8.Calibration` gives them."""

    per: str
    """"tensor", or "channel": one scale for each element that is summed."""

    def scale_of(self, names: Sequence[str], format_: str) -> np.ndarray | None:
        """The scale of the tensor of one of `names`, f32, for codes of `format_`."""
        ...


@dataclass(frozen=True)
class StaticScaling(_Formats):
    """Scales are constants of the module: of calibration, or given by name.

    `scales` is a `mlir_fp8.Calibration`, or a mapping from names to numbers: `dot3.lhs` for the
    left operand of the fourth dot, or `layer.input_scale` for what is multiplied by `layer.weight`.
    With `power_of_two` they are rounded up to powers of two, from 2^-50 to 2^63.
    """

    scales: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.scales, Mapping) and not hasattr(self.scales, "scale_of"):
            kind = type(self.scales).__name__
            raise Fp8Error(f"scales is a {kind}: give a Calibration, or a mapping of names")

    @property
    def per(self) -> str:
        """Whether a "tensor" has one scale, or each "channel"."""
        return "tensor" if isinstance(self.scales, Mapping) else self.scales.per

    def scale(self, names: Sequence[str], format_: str) -> np.ndarray:
        """The scale of the tensor that has one of `names`; `Fp8Error` where none is known."""
        if isinstance(self.scales, Mapping):
            given = next((self.scales[name] for name in names if name in self.scales), None)
            found = None if given is None else np.asarray(given, np.float32)
        else:
            found = self.scales.scale_of(names, format_)
        if found is None:
            reason = "has no scale: calibrate the same module with the same weights, or give one"
            raise Fp8Error(f"tensor '{names[0]}' {reason}")
        with np.errstate(all="ignore"):
            scaled = (found * np.float32(2.0**self.margin)).astype(np.float32)
        if not (np.isfinite(scaled).all() and (scaled >= _LEAST_SCALE).all()):
            raise Fp8Error(
                f"tensor '{names[0]}' has the scale {scaled}: it is from 2^-126 on, finite"
            )
        return to_power_of_two(scaled) if self.power_of_two else scaled


Recipe = (
    DelayedScaling | CurrentScaling | StaticScaling | BlockScaling | BlockFormatRecipe | Int8Scaling
)


@dataclass(frozen=True, kw_only=True)
class RecipeOptions:
    """What a recipe that a string names may be given: the fields of all recipes.

    `backward` is "" for that of the recipe: f8E5M2, of `block` f8E4M3FN, of block formats
    `forward`.
    """

    history: int = 1024
    margin: float = 0
    algorithm: str = "max"
    forward: str = "f8E4M3FN"
    backward: str = ""
    per: str = "tensor"
    power_of_two: bool = False
    shards: str = "all"
    block: int = MX_BLOCK
    scale_rounding: str = "floor"
    stochastic_gradients: bool = False
    hadamard: int = 0

    def given(self) -> list[str]:
        """The names of those that are not what they are by default."""
        return [each.name for each in fields(self) if getattr(self, each.name) != each.default]


_OPTIONS_OF: dict[str, str] = {
    "current": "margin forward backward per power_of_two shards",
    BLOCK: "margin forward backward power_of_two",
    MX: "forward backward block scale_rounding stochastic_gradients hadamard",
    NVFP4: "stochastic_gradients hadamard",
    INT8: "per",
}
_OPTIONS_OF_DELAYED = "history margin algorithm forward backward power_of_two"


def recipe_named(name: str, **options: Any) -> Recipe:
    """The recipe that a string, one of `RECIPES`, names, with `options` of `RecipeOptions`.

    The scales of `block` are always powers of two. `Fp8Error` for an option that this recipe does
    not have.
    """
    check_word("recipe", name, RECIPES)
    given = RecipeOptions(**options)
    known = _OPTIONS_OF.get(name, _OPTIONS_OF_DELAYED).split()
    if unknown := [each for each in given.given() if each not in known]:
        raise Fp8Error(f"recipe is {name}, which has no {unknown[0]}: it has {', '.join(known)}")
    values = {each: getattr(given, each) for each in known}
    if not values.get("backward", True):
        del values["backward"]
    if name == INT8:
        return Int8Scaling(**values)
    if name == NVFP4:
        return NVFP4Scaling(**values)
    if name == MX:
        return MXScaling(format=values.pop("forward"), **values)
    if name == "current":
        return CurrentScaling(**values)
    if name == BLOCK:
        return BlockScaling(**{**values, "power_of_two": True})
    return DelayedScaling(order="flax" if name == "delayed" else name, **values)


def check_format(which: str, name: str) -> None:
    """Refuse what is no format of 8 bits with a sign."""
    known = [name for name, fmt in FORMATS.items() if fmt.bits == 8 and fmt.signed]
    check_word(f"{which} format", name, known)


def _check_pair(forward: str, backward: str) -> None:
    if not any({forward, backward} <= family for family in PRODUCT_FAMILIES):
        reason = "no hardware multiplies these two, see fp8.scaled_dot"
        raise Fp8Error(f"forward is {forward} and backward {backward}: {reason}")
