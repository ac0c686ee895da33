"""What a module needs of StableHLO: each feature that is newer than the oldest version, counted.

The table of versions is `dialects/stablehlo_versions.py`; here a module is held against it, op by
op, without asking the library. What the table does not know is reported as such, for the caller to
find out by trying.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from torch_mlir import ir

from mlir_fp8.artifacts import dense_resources
from mlir_fp8.artifacts.features import Feature
from mlir_fp8.artifacts.type_parts import TypeParts, part_version, type_parts
from mlir_fp8.artifacts.version_forms import element_type, newer_forms
from mlir_fp8.base.module_places import module_place
from mlir_fp8.dialects.float_formats import SMALL_FLOATS
from mlir_fp8.dialects.stablehlo_versions import (
    ATTRIBUTES,
    BASE_VERSION,
    OPS,
    OTHER_DIALECTS_VERSION,
    version_key,
)

# How the bindings refuse dense elements of a type they have no class for.
_DENSE_COMPLEX = re.compile(r"DenseTypedElementsAttr.* : (\S.*?)\)\)\Z", re.DOTALL)
_MNEMONIC = re.compile(r"#stablehlo(?:\.|<)(\w+)")
_NEWER_OP = "is newer than the table of versions here: use target current"
_UNREADABLE = ", which the library writes but aborts on when it reads it: use a wider integer"
# What fp8-opt --lower-to-stablehlo-pipeline makes StableHLO of, but for functions on small floats
# that it makes of wider ones only.
_LEGALIZED = frozenset({"chlo", "fp8", "mhlo"})
_OF_WIDE_FLOATS = frozenset({"chlo.bessel_i1e", "chlo.erf", "chlo.erfc"})
# Kind, name and version of a feature.
_Need = tuple[str, str, str]
_PLAIN_ATTRIBUTES = (
    ir.StringAttr,
    ir.BoolAttr,
    ir.FlatSymbolRefAttr,
    ir.DenseI64ArrayAttr,
    ir.DenseBoolArrayAttr,
)
# Those of a type that the table must know.
_TYPED_ATTRIBUTES = (ir.IntegerAttr, ir.FloatAttr, ir.DenseElementsAttr)


@dataclass
class Survey:
    """What a module needs of StableHLO."""

    features: list[Feature] = field(default_factory=list)
    """Those newer than `BASE_VERSION`: the newest first, then by first place."""
    refusals: list[str] = field(default_factory=list)
    """Errors about what the library must not see, since it crashes on it or writes it wrong."""
    foreign: list[str] = field(default_factory=list)
    """Errors about ops of other dialects, which artifacts hold only where that is asked for."""
    has_resources: bool = False
    """Whether there are `dense_resource` constants."""
    unknown: list[str] = field(default_factory=list)
    """Errors about what the table does not know, so that no version may hold it."""

    @property
    def version(self) -> str:
        """The oldest version that holds all that the table knows."""
        return self.features[0].version if self.features else BASE_VERSION

    def newer_than(self, target: str) -> list[Feature]:
        """The features that `target` cannot hold."""
        return [each for each in self.features if version_key(each.version) > version_key(target)]


def survey(
    module: ir.Operation,
    name: str = "module",
    is_of_sizes: Callable[[ir.Operation], bool] = lambda _: False,
) -> Survey:
    """Hold `module` against the table; it is only read. `name` is its file, for places.

    `is_of_sizes` tells ops of other dialects that `legalize-sizes-to-stablehlo` makes StableHLO.
    """
    surveyor = _Surveyor(name, is_of_sizes)
    module.walk(surveyor.visit, ir.WalkOrder.PRE_ORDER)
    surveyor.result.features = surveyor.features()
    return surveyor.result


class _Surveyor:
    def __init__(self, name: str, is_of_sizes: Callable[[ir.Operation], bool]) -> None:
        self.result = Survey()
        self._is_of_sizes = is_of_sizes
        self._name = name
        self._types: dict[ir.Type, tuple[list[_Need], TypeParts]] = {}
        self._found: dict[_Need, tuple[int, str]] = {}

    def features(self) -> list[Feature]:
        found = [
            Feature(*need, count=count, location=place)
            for need, (count, place) in self._found.items()
        ]
        return sorted(found, key=lambda each: version_key(each.version), reverse=True)

    def visit(self, view: ir.Operation) -> ir.WalkResult:
        op = view.operation
        name = op.name
        needs: set[_Need] = set()
        feature, version = name, OPS.get(name)
        if version is None:
            is_stablehlo = name.startswith("stablehlo.")
            if is_stablehlo:
                self._report(self.result.unknown, op, _NEWER_OP)
            else:
                reason = _not_stablehlo(op, is_of_sizes=self._is_of_sizes(op))
                self._report(self.result.foreign, op, reason)
                feature = f"of dialect {name.partition('.')[0]}"
            version = BASE_VERSION if is_stablehlo else OTHER_DIALECTS_VERSION
        if version != BASE_VERSION:
            needs.add(("op", feature, version))
        needs.update((form.kind, form.name, form.version) for form in newer_forms(op, name))
        types = {value.type for value in op.operands}
        types.update(value.type for value in op.results)
        for region in op.regions:
            types.update(argument.type for block in region for argument in block.arguments)
        # Not by recursion: attributes nest deeper than Python's stack.
        left = list(_attributes(op, name))
        while left:
            attribute = left.pop()
            if isinstance(attribute, ir.ArrayAttr | ir.DictAttr):
                left.extend(_elements(attribute))
            else:
                needs.update(self._attribute(op, attribute, types))
        for type_ in types:
            needs.update(self._type(op, type_))
        for need in sorted(needs):
            count, place = self._found.get(need) or (0, self._place(op))
            self._found[need] = (count + 1, place)
        return ir.WalkResult.ADVANCE

    def _attribute(
        self, op: ir.Operation, attribute: ir.Attribute | ir.Type | None, types: set[ir.Type]
    ) -> Iterator[_Need]:
        """What an attribute that holds no others needs; its types are added to `types`."""
        if isinstance(attribute, _PLAIN_ATTRIBUTES):
            return
        if isinstance(attribute, _TYPED_ATTRIBUTES):
            types.add(attribute.type)
            if isinstance(attribute, ir.IntegerAttr) and str(attribute.type) in ("i2", "ui2"):
                self._report(
                    self.result.refusals, op, f"has the attribute {attribute}{_UNREADABLE}"
                )
        elif isinstance(attribute, ir.TypeAttr):
            types.add(attribute.value)
        elif isinstance(attribute, ir.Type):
            types.add(attribute)
        else:
            text = "of an unknown kind" if attribute is None else str(attribute)
            if attribute is not None and text.startswith(dense_resources.SPELLING):
                self.result.has_resources = True
                types.add(attribute.type)
                return
            mnemonic = _MNEMONIC.match(text)
            version = ATTRIBUTES.get(mnemonic[1]) if mnemonic else None
            if version is None:
                shown = text if len(text) < 80 else f"{text[:77]}..."
                why = f"has the attribute {shown}, which no StableHLO version holds"
                self._report(self.result.unknown, op, why)
            # The version of a result_accuracy depends on the op: version_forms.py.
            elif mnemonic and version != BASE_VERSION and mnemonic[1] != "result_accuracy":
                yield ("attribute", f"#stablehlo.{mnemonic[1]}", version)

    def _type(self, op: ir.Operation, type_: ir.Type) -> list[_Need]:
        found = self._types.get(type_)
        if found is None:
            parts = type_parts(type_)
            versions = {name: part_version(name) for name in parts.known}
            needs = [("type", *each) for each in versions.items() if each[1] != BASE_VERSION]
            found = self._types[type_] = (needs, parts)
        needs, parts = found
        for reason in parts.refused:
            self._report(self.result.refusals, op, reason)
        for name in parts.unknown:
            why = f"has the type {name}, which no StableHLO version holds"
            self._report(self.result.unknown, op, why)
        return needs

    def _report(self, reports: list[str], op: ir.Operation, reason: str) -> None:
        reports.append(f"{self._place(op)}: '{op.name}' {reason}")

    def _place(self, op: ir.Operation) -> str:
        return module_place(op.location, self._name)


def _not_stablehlo(op: ir.Operation, *, is_of_sizes: bool) -> str:
    pipeline = "--lower-to-stablehlo-pipeline"
    if op.name in _OF_WIDE_FLOATS and str(element_type(op.results[0].type)) in SMALL_FLOATS:
        pipeline = f"--float-normalization {pipeline}"
    if is_of_sizes:
        pipeline = "--legalize-sizes-to-stablehlo"
    is_legalized = is_of_sizes or op.name.partition(".")[0] in _LEGALIZED
    way_out = f"legalize it first (fp8-opt {pipeline})" if is_legalized else "remove it"
    return f"is not StableHLO: {way_out}, or write it as it is with --allow-other-dialects"


def _attributes(op: ir.Operation, op_name: str) -> Iterator[ir.Attribute | ir.Type | None]:
    attributes = op.attributes
    for name in attributes:
        is_value = name == "value" and op_name == "stablehlo.constant"
        # The error of `_read` would print the constant, whose type is that of the result.
        if not (is_value and isinstance(element_type(op.results[0].type), ir.ComplexType)):
            yield _read(partial(attributes.__getitem__, name), op.context)
        elif dense_resources.SPELLING in str(
            op.get_asm(large_elements_limit=0, use_local_scope=True)
        ):
            # A resource, or a constant that is large and so spelled like one.
            with suppress(TypeError):
                yield attributes[name]


def _elements(attribute: ir.ArrayAttr | ir.DictAttr) -> Iterator[ir.Attribute | ir.Type | None]:
    for index in range(len(attribute)):
        # Not by the value of the pair, whose getter aborts where `_read` sees an error.
        key = attribute[index].name if isinstance(attribute, ir.DictAttr) else index
        yield _read(partial(attribute.__getitem__, key), attribute.context)


def _read(get: Callable[[], ir.Attribute], context: ir.Context) -> ir.Attribute | ir.Type | None:
    """The attribute, or the type of one that the bindings have no class for: complex numbers."""
    try:
        return get()
    except TypeError as error:
        spelled = _DENSE_COMPLEX.search(str(error))
        return ir.Type.parse(spelled[1], context) if spelled else None
