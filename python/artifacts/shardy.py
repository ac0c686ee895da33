"""The `sdy` dialect, and the StableHLO that XLA writes for it where only that can travel.

XLA's round trip (xla/service/spmd/shardy/sdy_round_trip): meshes and shardings are strings in
`mhlo.frontend_attributes`, constraints, groups, barriers and the shardings of results are custom
calls, and the body of a `manual_computation` is a function between two of them. XLA compiles a
module in this form as it compiles the other. Importing this module imports jaxlib.
"""

import json
from collections.abc import Mapping, Sequence

from jaxlib.mlir import ir as jax_ir
from jaxlib.mlir.dialects import sdy, stablehlo

from mlir_fp8.artifacts.mhlo import generic_text, inline_region, parse_mhlo, place, read_artifact
from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.base.errors import Fp8Error

FRONTEND = "mhlo.frontend_attributes"
BODY = "xla.sdy.manual_computation_body"
_RESHARDS = {
    f"sdy.{name}"
    for name in (
        *("sharding_constraint", "reshard"),
        *("all_gather", "all_slice", "all_to_all", "collective_permute"),
    )
}
"""What gives its operand with another sharding."""


def as_custom_calls(data: bytes, name: str) -> bytes:
    """The module in `data` without `sdy`: an artifact of the same version, else generic text.

    `name` stands for the file in errors. Raises `Fp8Error` naming the op that has no such form.
    """
    version = artifact_version(data)
    module = read_artifact(data) if version else parse_mhlo(data, name)
    with module.context, jax_ir.Location.unknown():
        _Export(module, name).run()
    if version:
        try:
            return stablehlo.serialize_portable_artifact(module, version)
        except (ValueError, jax_ir.MLIRError) as error:
            raise Fp8Error(f"{name}: cannot be written with its shardings: {error}") from None
    return generic_text(module).replace('loc("-":', f"loc({json.dumps(name)}:").encode()


class _Export:
    """The ops of one module, one after the other, outer ones first."""

    def __init__(self, module: jax_ir.Module, name: str) -> None:
        self._module, self._name = module, name
        self._meshes: list[str] = []
        self._bodies = 0

    def run(self) -> None:
        ops: list[jax_ir.Operation] = []

        def visit(op: jax_ir.Operation) -> jax_ir.WalkResult:
            if op.name != "sdy.return":  # these go with what they end
                ops.append(op)
            return jax_ir.WalkResult.ADVANCE

        self._module.operation.walk(visit, jax_ir.WalkOrder.PRE_ORDER)
        for op in ops:
            self._op(op)
        if self._meshes:
            meshes = {"xla.sdy.meshes": f"{{{', '.join(self._meshes)}}}"}
            _annotate(self._module.operation, meshes)

    def _op(self, op: jax_ir.Operation) -> None:
        if op.name == "sdy.mesh":
            self._meshes.append(f"{_symbol(op)} = {op.attributes['mesh']}")
            op.erase()
        elif op.name in _RESHARDS:
            key = "sharding" if "sharding" in op.attributes else "out_sharding"
            _replace(op, "Sharding", {"xla.sdy.sharding": _per_value([op.attributes[key]])})
        elif op.name == "sdy.propagation_barrier":
            direction = str(jax_ir.IntegerAttr(op.attributes["allowed_direction"]).value)
            _replace(op, "xla.sdy.PropagationBarrier", {"xla.sdy.allowed_direction": direction})
        elif op.name == "sdy.sharding_group":
            group = str(jax_ir.IntegerAttr(op.attributes["group_id"]).value)
            key = {"xla.sdy.sharding_group_id": group}
            _replace(op, "xla.sdy.ShardingGroup", key, has_effect=True)
        elif op.name == "sdy.data_flow_edge":
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
        elif op.name == "sdy.named_computation":
            self._inline(op)
        elif op.name == "sdy.manual_computation":
            self._outline(op)
        elif op.name.startswith("sdy."):
            where = place(str(op.location), self._name)
            reason = "has no form in StableHLO alone: run it before what shards the module"
            raise Fp8Error(f"{where}: '{op.name}' {reason}")
        else:
            _keep_attributes(op)
            self._refuse_others(op)

    def _refuse_others(self, op: jax_ir.Operation) -> None:
        """Refuse what is of `sdy` in an attribute of another name."""
        ends = [each for key in ("arg_attrs", "res_attrs") if key in op.attributes
                for each in jax_ir.ArrayAttr(op.attributes[key])]  # fmt: skip
        named = [(key, op.attributes[key]) for key in op.attributes if "." in key]
        for key, value in (*named, *(item for end in ends for item in _items(end))):
            if key != FRONTEND and "#sdy" in str(value):
                where = place(str(op.location), self._name)
                raise Fp8Error(f"{where}: '{op.name}' has a part of 'sdy' in '{key}': remove that")

    def _inline(self, op: jax_ir.Operation) -> None:
        """The body in the place of the op; what it says of its ends are constraints."""
        for which, values in (("in_shardings", op.operands), ("out_shardings", op.results)):
            if which not in op.attributes:
                continue
            for index, sharding in enumerate(_each(op.attributes[which])):
                call = _call(op, "Sharding", [values[index]], [values[index].type],
                             {"xla.sdy.sharding": _per_value([sharding])})  # fmt: skip
                if which == "in_shardings":
                    op.operands[index] = call.results[0]
                else:
                    call.move_after(op)
                    values[index].replace_all_uses_except(call.results[0], call)
        inline_region(op)

    def _outline(self, op: jax_ir.Operation) -> None:
        axes = {"xla.sdy.manual_axes": str(op.attributes["manual_axes"])}
        block = op.regions[0].blocks[0]
        end = block.operations[len(block.operations) - 1].operation
        inside = [argument.type for argument in block.arguments]
        given = [value.type for value in end.operands]
        arguments = list(op.operands)
        if inside:
            key = {"xla.sdy.in_shardings": str(op.attributes["in_shardings"]), **axes}
            enter = _call(op, "xla.sdy.GlobalToLocalShape", arguments, inside, key)
            arguments = list(enter.results)
        body = BODY if not self._bodies else f"{BODY}_{self._bodies - 1}"
        self._bodies += 1
        function = jax_ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": jax_ir.StringAttr.get(body),
                "sym_visibility": jax_ir.StringAttr.get("private"),
                "function_type": jax_ir.TypeAttr.get(jax_ir.FunctionType.get(inside, given)),
            },
            regions=1,
            loc=op.location,
            ip=jax_ir.InsertionPoint(self._module.body),
        )
        block.append_to(function.regions[0])
        with jax_ir.InsertionPoint(end), end.location:
            jax_ir.Operation.create("func.return", operands=list(end.operands))
        end.erase()
        call = jax_ir.Operation.create(
            "func.call",
            results=given,
            operands=arguments,
            attributes={"callee": jax_ir.FlatSymbolRefAttr.get(body)},
            loc=op.location,
            ip=jax_ir.InsertionPoint(op),
        )
        _annotate(call, {"inlineable": "false"})
        key = {"xla.sdy.out_shardings": str(op.attributes["out_shardings"]), **axes}
        results = [result.type for result in op.results]
        whole = _call(op, "xla.sdy.LocalToGlobalShape", list(call.results), results, key)
        for old, new in zip(op.results, whole.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()


def _keep_attributes(op: jax_ir.Operation) -> None:
    """Attributes of `sdy` on an op, its arguments and its results, as strings."""
    for key in [each for each in op.attributes if each.startswith("sdy.")]:
        _annotate(op, {f"xla.{key}": str(op.attributes[key])})
        del op.attributes[key]
    if "arg_attrs" in op.attributes:
        given = [dict(_items(each)) for each in jax_ir.ArrayAttr(op.attributes["arg_attrs"])]
        kept = [_as_strings(each) for each in given]
        op.attributes["arg_attrs"] = jax_ir.ArrayAttr.get(list(map(jax_ir.DictAttr.get, kept)))
    if "res_attrs" in op.attributes:
        _keep_results(op)


def _keep_results(function: jax_ir.Operation) -> None:
    kept = [dict(_items(each)) for each in jax_ir.ArrayAttr(function.attributes["res_attrs"])]
    blocks = list(function.regions[0].blocks)
    for index, attributes in enumerate(kept):
        sharding = attributes.pop("sdy.sharding", None)
        if sharding is None or not blocks:
            continue
        end = blocks[-1].operations[len(blocks[-1].operations) - 1].operation
        key = {"xla.sdy.sharding": _per_value([sharding])}
        value = end.operands[index]
        call = _call(end, "xla.sdy.FuncResultSharding", [value], [value.type], key, has_effect=True)
        end.operands[index] = call.results[0]
    function.attributes["res_attrs"] = jax_ir.ArrayAttr.get(list(map(jax_ir.DictAttr.get, kept)))


def _as_strings(attributes: dict[str, jax_ir.Attribute]) -> dict[str, jax_ir.Attribute]:
    ours = {key: value for key, value in attributes.items() if key.startswith("sdy.")}
    if not ours:
        return attributes
    kept = {key: value for key, value in attributes.items() if key not in ours}
    known = dict(_items(kept[FRONTEND])) if FRONTEND in kept else {}
    texts = {f"xla.{key}": jax_ir.StringAttr.get(str(value)) for key, value in ours.items()}
    return {**kept, FRONTEND: jax_ir.DictAttr.get({**known, **texts})}


def _annotate(op: jax_ir.Operation, texts: Mapping[str, str]) -> None:
    known = dict(_items(op.attributes[FRONTEND])) if FRONTEND in op.attributes else {}
    known |= {key: jax_ir.StringAttr.get(text) for key, text in texts.items()}
    op.attributes[FRONTEND] = jax_ir.DictAttr.get(known)


def _items(dictionary: jax_ir.Attribute) -> list[tuple[str, jax_ir.Attribute]]:
    return [(each.name, each.attr) for each in jax_ir.DictAttr(dictionary)]


def _call(
    op: jax_ir.Operation,
    target: str,
    operands: Sequence[jax_ir.Value],
    results: Sequence[jax_ir.Type],
    texts: Mapping[str, str],
    *,
    has_effect: bool = False,
) -> jax_ir.Operation:
    """A custom call before `op`."""
    attributes: dict[str, jax_ir.Attribute] = {"call_target_name": jax_ir.StringAttr.get(target)}
    if has_effect:
        attributes["has_side_effect"] = jax_ir.BoolAttr.get(True)
    call = jax_ir.Operation.create(
        "stablehlo.custom_call",
        results=results,
        operands=operands,
        attributes=attributes,
        loc=op.location,
        ip=jax_ir.InsertionPoint(op),
    )
    _annotate(call, texts)
    return call


def _replace(
    op: jax_ir.Operation, target: str, texts: Mapping[str, str], *, has_effect: bool = False
) -> None:
    types = [result.type for result in op.results]
    call = _call(op, target, list(op.operands), types, texts, has_effect=has_effect)
    for old, new in zip(op.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _per_value(shardings: Sequence[jax_ir.Attribute]) -> str:
    """`#sdy.sharding<@mesh, [...]>` of each value in one attribute's text."""
    inner = (str(each).removeprefix("#sdy.sharding") for each in shardings)
    return f"#sdy.sharding_per_value<[{', '.join(inner)}]>"


def _each(per_value: jax_ir.Attribute) -> list[jax_ir.Attribute]:
    return list(sdy.TensorShardingPerValueAttr(per_value).shardings)


def _symbol(op: jax_ir.Operation) -> str:
    return jax_ir.StringAttr(op.attributes["sym_name"]).value
