"""Arguments of a call of an exported program, checked against what was exported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export._tree_utils import reorder_kwargs
from torch.utils import _pytree as pytree

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.torch.program import Argument, Program

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Leaf:
    """One leaf of the pytree of arguments; sizes are integers, or sympy expressions if dynamic."""

    name: str
    constant: Any
    dtype: torch.dtype | None
    sizes: tuple[Any, ...]

    @property
    def is_open(self) -> bool:
        """Whether a size is dynamic: may differ from that of the example."""
        return any(not isinstance(size, int) for size in self.sizes)


@dataclass(frozen=True)
class Signature:
    """The pytree of arguments that an exported program takes, and the ranges of dynamic sizes."""

    leaves_: tuple[Leaf, ...]
    in_spec: Any
    ranges: Mapping[Any, Any]

    @property
    def is_open(self) -> bool:
        """Whether any size is dynamic."""
        return any(leaf.is_open for leaf in self.leaves_)

    def shapes(self, program: Program) -> tuple[Shape, ...]:
        """The shapes of the tensors that `program`, of static sizes, takes in a call."""
        placeholders = {node.name: node for node in program.graph.graph.nodes}
        return tuple(
            tuple(placeholders[each.name].meta["val"].shape)
            for each in program.arguments
            if each.leaf is not None and each.is_passed
        )

    def leaves(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of the arguments, of the tree and the dtypes that were exported."""
        try:
            ordered = reorder_kwargs(dict(kwargs), self.in_spec)
            leaves, spec = pytree.tree_flatten((tuple(args), ordered))
        except Exception as error:
            reason = str(error).strip().splitlines()[0]
            raise Fp8Error(f"the arguments are not those that were exported: {reason}") from None
        if spec != self.in_spec:
            names = ", ".join(leaf.name for leaf in self.leaves_)
            raise Fp8Error(
                f"the arguments have {len(leaves)} leaves, in another structure than was exported:"
                f" ({names}); give the same lists, tuples and dicts"
            )
        for leaf, value in zip(self.leaves_, leaves, strict=True):
            _check(leaf, value)
        return leaves

    def check_shapes(self, leaves: Sequence[Any]) -> None:
        """Refuse shapes that the program was not exported for."""
        sizes: dict[Any, int] = {}
        for leaf, value in zip(self.leaves_, leaves, strict=True):
            if leaf.dtype is None:
                continue
            given = tuple(value.shape)
            if len(given) != len(leaf.sizes):
                raise _shape_error(leaf, given)
            for declared, size in zip(leaf.sizes, given, strict=True):
                if isinstance(declared, int) and declared != size:
                    raise _shape_error(leaf, given)
                if not isinstance(declared, int) and declared.is_symbol:
                    self._check_open(leaf, declared, size, sizes)
        self._check_derived(leaves, sizes)

    def _check_open(self, leaf: Leaf, symbol: Any, size: int, sizes: dict[Any, int]) -> None:
        if sizes.setdefault(symbol, size) != size:
            other = sizes[symbol]
            raise Fp8Error(f"'{leaf.name}': {symbol} is {size}, elsewhere {other}: they are one")
        allowed = self.ranges.get(symbol)
        if allowed is not None and not allowed.lower <= size <= allowed.upper:
            raise Fp8Error(
                f"'{leaf.name}': {symbol} is {size}, exported for {allowed.lower} to"
                f" {allowed.upper}"
            )

    def _check_derived(self, leaves: Sequence[Any], sizes: Mapping[Any, int]) -> None:
        for leaf, value in zip(self.leaves_, leaves, strict=True):
            for declared, size in zip(leaf.sizes, getattr(value, "shape", ()), strict=False):
                if isinstance(declared, int) or declared.is_symbol:
                    continue
                expected = declared.subs(sizes)
                if expected.is_number and int(expected) != size:
                    raise Fp8Error(f"'{leaf.name}': {declared} is {size}, not {expected}")


def signature_of(exported: ExportedProgram, arguments: Sequence[Argument]) -> Signature:
    """What `exported` takes; `arguments` are those of its program."""
    values = {
        node.name: node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"
    }
    leaves = tuple(
        _leaf(each, values.get(each.name)) for each in arguments if each.leaf is not None
    )
    return Signature(leaves, exported.call_spec.in_spec, exported.range_constraints)


def _leaf(argument: Argument, value: Any) -> Leaf:
    if argument.is_constant or not isinstance(value, torch.Tensor):
        return Leaf(argument.name, argument.constant, None, ())
    sizes = tuple(
        size.node.expr if isinstance(size, torch.SymInt) else int(size) for size in value.shape
    )
    return Leaf(argument.name, None, value.dtype, tuple(map(_plain, sizes)))


def _plain(size: Any) -> Any:
    return int(size) if getattr(size, "is_number", True) else size


def _check(leaf: Leaf, value: Any) -> None:
    if leaf.dtype is None:
        if isinstance(value, torch.Tensor) or not _is_same(value, leaf.constant):
            raise Fp8Error(
                f"'{leaf.name}' is {value!r}, exported for {leaf.constant!r}, which is part of the"
                " program: export again"
            )
        return
    if not isinstance(value, torch.Tensor):
        raise Fp8Error(f"'{leaf.name}' is a {type(value).__name__}, not a torch.Tensor")
    if value.dtype != leaf.dtype:
        raise Fp8Error(f"'{leaf.name}' is {value.dtype}, exported for {leaf.dtype}")


def _is_same(value: Any, constant: Any) -> bool:
    """Zeros of two signs are two numbers, NaN is one."""
    if isinstance(value, float) and isinstance(constant, float):
        return repr(value) == repr(constant)
    return value == constant


def _shape_error(leaf: Leaf, given: Shape) -> Fp8Error:
    return Fp8Error(
        f"'{leaf.name}' is of shape {list(given)}, exported for {list(leaf.sizes)}: give"
        " dynamic_shapes to the export where sizes may differ"
    )
