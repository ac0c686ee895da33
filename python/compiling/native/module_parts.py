"""A module in the LLVM dialect, split into parts that are compiled concurrently.

Functions that call each other stay together, so that LLVM optimizes across them as in the whole
module: only an external function, as the entry is, calls those of other parts.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import readable_attributes

_REFERENCES = {"llvm.call": "callee", "llvm.mlir.addressof": "global_name"}
_WORTH_A_PART = 600
"""The least ops of a part: LLVM takes 0.1 s for them, and 0.02 s of overhead for a part."""
_FEW = 64
"""The most elements of a constant that is copied into each part."""


@dataclass(frozen=True)
class Part:
    """A module of its own, whose functions are external where other parts use them."""

    module: ir.Module
    shown: str
    """An external symbol."""
    others: tuple[str, ...]
    """Its undefined symbols: those of other parts, and those that no part defines."""


@dataclass
class _Symbol:
    op: ir.Operation
    size: int = 0
    uses: set[str] = field(default_factory=set)

    @property
    def is_declared(self) -> bool:
        return is_declaration(self.op)

    @property
    def is_open(self) -> bool:
        """Whether it is an external function."""
        return self.op.name == "llvm.func" and "external" in str(self.op.attributes["linkage"])

    @property
    def is_value(self) -> bool:
        """Whether it is a global initialized by an attribute."""
        return self.op.name != "llvm.func" and "value" in self.op.attributes

    @property
    def is_copied(self) -> bool:
        """Whether it is a small constant whose address has no meaning, so that parts may have
        copies."""
        if not self.is_value or "constant" not in self.op.attributes:
            return False
        value = dict(readable_attributes(self.op)).get("value")
        if value is None:
            return False
        type_ = value.type
        return not isinstance(type_, ir.ShapedType) or math.prod(type_.shape) <= _FEW


def parts_of(module: ir.Module, most: int) -> list[Part]:
    """`module` in at most `most` parts of about equal size; one part, or a module with symbols of
    other kinds than functions and constants, is not worth it: no parts."""
    if most < 2:
        return []
    symbols = _symbols(module)
    total = sum(symbol.size for symbol in symbols.values())
    count = min(most, total // _WORTH_A_PART)
    names = _distributed(symbols, count) if count > 1 else []
    if len(names) < 2:
        return []
    owner = {name: index for index, group in enumerate(names) for name in group}
    used_outside = {
        used
        for name, index in owner.items()
        for used in symbols[name].uses
        if owner.get(used, index) != index
    }
    with module.context, ir.Location.unknown():
        return [_part(module, symbols, group, used_outside) for group in names]


def whole(module: ir.Module) -> Part:
    """`module` as one part."""
    symbols = {symbol_name(op): _Symbol(op.operation) for op in module.body}
    shown = next(name for name, s in symbols.items() if s.is_open and not s.is_declared)
    return Part(module, shown, declared(module))


def declared(module: ir.Module) -> tuple[str, ...]:
    """The functions that `module`, in the LLVM dialect, only declares."""
    ops = [op.operation for op in module.body]
    return tuple(symbol_name(op) for op in ops if is_declaration(op))


def is_declaration(op: ir.Operation) -> bool:
    """Whether `op` is a function of the LLVM dialect without a body."""
    return op.name == "llvm.func" and not len(op.regions[0].blocks)


def _symbols(module: ir.Module) -> dict[str, _Symbol]:
    """All that `module` defines or declares, in order; none if it has anything else."""
    found: dict[str, _Symbol] = {}
    for op in (each.operation for each in module.body.operations):
        if op.name not in ("llvm.func", "llvm.mlir.global"):
            return {}
        symbol = found[symbol_name(op)] = _Symbol(op)

        def visit(inner: ir.Operation | ir.OpView, symbol: _Symbol = symbol) -> ir.WalkResult:
            symbol.size += 1
            name = inner.operation.name
            if name in _REFERENCES and _REFERENCES[name] in inner.attributes:
                used = ir.FlatSymbolRefAttr(inner.attributes[_REFERENCES[name]])
                symbol.uses.add(used.value)
            return ir.WalkResult.ADVANCE

        op.walk(visit)
    return found


def _distributed(symbols: dict[str, _Symbol], count: int) -> list[list[str]]:
    """The defined names in up to `count` groups: largest first, each to the smallest group."""
    groups = sorted(
        _together(symbols), key=lambda group: -sum(symbols[name].size for name in group)
    )
    parts: list[list[str]] = [[] for _ in range(min(count, len(groups)))]
    sizes = [0] * len(parts)
    for group in groups:
        smallest = sizes.index(min(sizes))
        parts[smallest] += group
        sizes[smallest] += sum(symbols[name].size for name in group)
    return parts


def _together(symbols: dict[str, _Symbol]) -> list[list[str]]:
    """The connected components of uses, external functions aside."""
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while name in above:
            name = above[name]
        return name

    own = [name for name, s in symbols.items() if not s.is_declared and not s.is_copied]
    for name in own:
        for used in symbols[name].uses.intersection(own):
            calls = symbols[name].is_open and symbols[used].op.name == "llvm.func"
            if not calls and not symbols[used].is_value and top(name) != top(used):
                above[top(name)] = top(used)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in own:
        groups[top(name)].append(name)
    return list(groups.values())


def _part(
    module: ir.Module, symbols: dict[str, _Symbol], names: list[str], used_outside: set[str]
) -> Part:
    part = ir.Module.create()
    for attribute in module.operation.attributes:
        part.operation.attributes[attribute] = module.operation.attributes[attribute]
    external = ir.Attribute.parse("#llvm.linkage<external>")
    uses = {used for name in names for used in symbols[name].uses}.difference(names)
    shown = [name for name in names if symbols[name].is_open or name in used_outside] or names[:1]
    others = []
    with ir.InsertionPoint(part.body):
        for name, symbol in symbols.items():
            if name in names:
                clone = symbol.op.clone()
                if name in shown:
                    clone.attributes["linkage"] = external
            elif name in uses and (symbol.is_copied or symbol.is_declared):
                symbol.op.clone()
            elif name in uses:
                _declare(symbol, external)
            if name in uses and not symbol.is_copied:
                others.append(name)
    return Part(part, shown[0], tuple(others))


def _declare(symbol: _Symbol, external: ir.Attribute) -> None:
    attributes = {key: symbol.op.attributes[key] for key in symbol.op.attributes if key != "value"}
    ir.Operation.create(symbol.op.name, attributes=attributes | {"linkage": external}, regions=1)
