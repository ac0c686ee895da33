"""`torch.cond`, `while_loop` and `scan` as StableHLO's control flow."""

from typing import Any

import torch
from torch._higher_order_ops.cond import cond_op
from torch._higher_order_ops.scan import scan_op
from torch._higher_order_ops.while_loop import while_loop_op

from mlir_fp8.torch.functions import Body, writes


def _call(name: str, values: list[str], inputs: list[Any], outputs: list[Any]) -> str:
    types = f"({', '.join(map(str, inputs))}) -> ({', '.join(map(str, outputs))})"
    return f'func.call @"{name}"({", ".join(values)}) : {types}'


def _named(base: str, count: int) -> list[str]:
    return [base] if count == 1 else [f"{base}#{i}" for i in range(count)]


def _tuple(types: list[Any]) -> str:
    return f"({', '.join(map(str, types))})"


def _operands(body: Body, nodes: Any) -> list[int]:
    """Which arguments of the function `nodes` are."""
    order = {node: i for i, node in enumerate(body.function.operands)}
    for node in nodes:
        if not isinstance(node, torch.fx.Node):
            from mlir_fp8.base.errors import Fp8Error
            from mlir_fp8.torch.locations import spell

            raise Fp8Error(
                f"{spell(body.function.node)} carries {node!r}, which is no tensor: make it one"
            )
    return [order[node] for node in nodes]


@writes(cond_op)
def cond(body: Body) -> None:
    """Either of two functions of the same arguments."""
    predicate, _, _, operands = body.function.node.args
    (which,) = _operands(body, [predicate])
    given = _operands(body, operands)
    values, inputs = [f"%arg{i}" for i in given], [body.inputs[i] for i in given]
    count = len(body.outputs)
    condition, flat = f"%arg{which}", body.inputs[which]
    if flat.rank:
        condition = body.let(f"stablehlo.reshape {condition} : ({flat}) -> tensor<i1>")
    branches = []
    for index, callee in enumerate(body.function.callees):
        name = f"%branch{index}"
        call = _call(callee, values, inputs, body.outputs)
        results = ", ".join(_named(name, count))
        many = f":{count}" if count > 1 else ""
        branches.append(
            f"{{\n{name}{many} = {call}\n"
            f"stablehlo.return {results} : {', '.join(map(str, body.outputs))}\n}}"
        )
    text = f'"stablehlo.if"({condition}) ({", ".join(branches)}) : (tensor<i1>) -> '
    made = body.let(text + _tuple(body.outputs), results=count)
    body.give(*_named(made, count))


@writes(while_loop_op)
def while_loop(body: Body) -> None:
    """A loop with loop-carried tensors; loop-invariant ones are captured."""
    node = body.function.node
    carried = _operands(body, node.args[2])
    read = _operands(body, node.args[3] if len(node.args) > 3 else ())
    test, step = body.function.callees
    types = [body.inputs[i] for i in carried]
    count = len(types)
    outer, outer_types = [f"%arg{i}" for i in read], [body.inputs[i] for i in read]
    blocks = []
    for prefix, callee in (("%c", test), ("%s", step)):
        names = [f"{prefix}{i}" for i in range(count)]
        arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
        results = ["tensor<i1>"] if callee is test else types
        call = _call(callee, [*names, *outer], [*types, *outer_types], results)
        many = f":{len(results)}" if len(results) > 1 else ""
        returned = ", ".join(_named(f"{prefix}r", len(results)))
        blocks.append(
            f"{{\n^bb0({arguments}):\n{prefix}r{many} = {call}\n"
            f"stablehlo.return {returned} : {', '.join(map(str, results))}\n}}"
        )
    values = ", ".join(f"%arg{i}" for i in carried)
    text = f'"stablehlo.while"({values}) ({", ".join(blocks)}) : {_tuple(types)} -> '
    made = body.let(text + _tuple(types), results=count)
    body.give(*_named(made, count))


@writes(scan_op)
def scan(body: Body) -> None:
    """A loop over the first dimension: takes slices, and stacks a slice of each result."""
    node = body.function.node
    initial, sliced = node.args[1], node.args[2]
    extra = node.args[3] if len(node.args) > 3 else ()
    carried, slices, read = (_operands(body, each) for each in (initial, sliced, extra))
    (callee,) = body.function.callees
    carry_types = [body.inputs[i] for i in carried]
    stacked = body.outputs[len(carry_types) :]
    length = body.inputs[slices[0]].shape[0]
    counter = body.let("stablehlo.constant dense<0> : tensor<i64>")
    zeros = [_zeros(body, each) for each in stacked]
    types = ["tensor<i64>", *map(str, carry_types), *map(str, stacked)]
    names = [f"%s{i}" for i in range(len(types))]
    lines = ["%one = stablehlo.constant dense<1> : tensor<i64>"]
    inputs: list[Any] = [*carry_types]
    values = names[1 : 1 + len(carry_types)]
    for position, index in enumerate(slices):
        text, name, type_ = _slice(index, body.inputs[index], position)
        lines += text
        values.append(name)
        inputs.append(type_)
    values += [f"%arg{i}" for i in read]
    inputs += [body.inputs[i] for i in read]
    rows = [
        f"tensor<{'x'.join([*map(str, each.shape[1:]), str(each.element_type)])}>"
        for each in stacked
    ]
    results = [*map(str, carry_types), *rows]
    many = f":{len(results)}" if len(results) > 1 else ""
    lines.append(f"%r{many} = {_call(callee, values, inputs, results)}")
    given = _named("%r", len(results))
    lines.append("%next = stablehlo.add %s0, %one : tensor<i64>")
    updated = []
    for i, (row, whole) in enumerate(zip(rows, stacked, strict=True)):
        one = f"tensor<{'x'.join(['1', *map(str, whole.shape[1:]), str(whole.element_type)])}>"
        lines.append(
            f"%row{i} = stablehlo.reshape {given[len(carry_types) + i]} : ({row}) -> {one}"
        )
        zero = [f"%zero{i}"] * (whole.rank - 1)
        lines.append(f"%zero{i} = stablehlo.constant dense<0> : tensor<i64>")
        starts = ", ".join(["%s0", *zero])
        start_types = ", ".join(["tensor<i64>"] * whole.rank)
        lines.append(
            f"%new{i} = stablehlo.dynamic_update_slice {names[1 + len(carry_types) + i]}, %row{i},"
            f" {starts} : ({whole}, {one}, {start_types}) -> {whole}"
        )
        updated.append(f"%new{i}")
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    tested = arguments.replace("%s", "%c")
    returned = ", ".join(["%next", *given[: len(carry_types)], *updated])
    text = (
        f'"stablehlo.while"({", ".join([counter, *[f"%arg{i}" for i in carried], *zeros])}) ({{\n'
        f"^bb0({tested}):\n%end = stablehlo.constant dense<{length}> : tensor<i64>\n"
        "%go = stablehlo.compare LT, %c0, %end, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
        f"stablehlo.return %go : tensor<i1>\n}}, {{\n^bb0({arguments}):\n"
        + "\n".join(lines)
        + f"\nstablehlo.return {returned} : {', '.join(types)}\n}}) : {_tuple(types)} ->"
        f" {_tuple(types)}"
    )
    made = body.let(text, results=len(types))
    body.give(*_named(made, len(types))[1:])


def _zeros(body: Body, type_: Any) -> str:
    element = str(type_.element_type)
    value = "0.0" if element.startswith(("f", "bf")) else "false" if element == "i1" else "0"
    return body.constant(value, type_)


def _slice(index: int, type_: Any, position: int) -> tuple[list[str], str, str]:
    rest = [*map(str, type_.shape[1:])]
    one = f"tensor<{'x'.join(['1', *rest, str(type_.element_type)])}>"
    flat = f"tensor<{'x'.join([*rest, str(type_.element_type)])}>"
    sizes = ", ".join(["1", *rest])
    zeros = [f"%z{position}"] * (type_.rank - 1)
    types = ", ".join([str(type_), *["tensor<i64>"] * type_.rank])
    return (
        [
            f"%z{position} = stablehlo.constant dense<0> : tensor<i64>",
            f"%x{position} = stablehlo.dynamic_slice %arg{index}, {', '.join(['%s0', *zeros])},"
            f" sizes = [{sizes}] : ({types}) -> {one}",
            f"%y{position} = stablehlo.reshape %x{position} : ({one}) -> {flat}",
        ],
        f"%y{position}",
        flat,
    )
