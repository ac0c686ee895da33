"""The text of a loop of steps, in StableHLO."""

import json
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.inference.step_plan import StepPlan

_WITHOUT_ZERO = "f8E8M0FNU"


def step_signature(plan: StepPlan) -> str:
    """The type of a step."""
    inputs, results = (", ".join(map(str, each)) for each in (plan.inputs, plan.results))
    return f"({inputs}) -> ({results})"


def loop_text(plan: StepPlan, entry: str, step: str, names: Sequence[str]) -> str:
    """A function `entry` that calls `step` in a loop; arguments are at locations of `names`."""
    i32 = "tensor<i32>"
    inputs, results = plan.inputs, plan.results
    stacks = [_stack_type(results[number], plan.steps) for number in plan.stacked]
    looped = [*plan.carried, *([] if plan.counter is None else [plan.counter])]
    types = [i32, *(str(inputs[each]) for each in looped), *stacks]
    starts = ["%zero", *(f"%a{each}" for each in looped), *(f"%e{i}" for i in range(len(stacks)))]
    loop_names = ["%i", *(f"%c{each}" for each in looped), *(f"%s{i}" for i in range(len(stacks)))]
    given = [f"%c{i}" if i in looped else f"%a{i}" for i in range(len(inputs))]
    body: list[str] = []
    # One name for several results is `%r:n`, and of a single result `%r`.
    of_step = [f"%r#{i}" if len(results) > 1 else "%r" for i in range(len(results))]
    bound = f"%r:{len(results)} = " if len(results) > 1 else "%r = " if results else ""
    body.append(f"{bound}func.call @{step}({', '.join(given)}) : {step_signature(plan)}")
    body.append(f"%next = stablehlo.add %i, %one : {i32}")
    yielded = ["%next", *(of_step[result] for result in plan.carried.values())]
    if plan.counter is not None:
        type_ = inputs[plan.counter]
        body.append(f"%step = stablehlo.constant dense<1> : {type_}")
        body.append(f"%counted = stablehlo.add %c{plan.counter}, %step : {type_}")
        yielded.append("%counted")
    for i, number in enumerate(plan.stacked):
        one = _stack_type(results[number], 1)
        body.append(f"%w{i} = stablehlo.reshape {of_step[number]} : ({results[number]}) -> {one}")
        rank = ir.RankedTensorType(results[number]).rank
        at, of = ", ".join(["%i", *["%zero"] * rank]), ", ".join([i32] * (rank + 1))
        update = f"stablehlo.dynamic_update_slice %s{i}, %w{i}, {at}"
        body.append(f"%n{i} = {update} : ({stacks[i]}, {one}, {of}) -> {stacks[i]}")
        yielded.append(f"%n{i}")
    empty = [
        f"%e{i} = stablehlo.constant {_zeros(results[number])} : {stacks[i]}"
        for i, number in enumerate(plan.stacked)
    ]
    places = {result: 1 + i for i, result in enumerate(plan.carried.values())}
    first = 1 + len(looped)
    alone = {each: first + i for i, each in enumerate(plan.stacked) if each not in places}
    end = [places.get(number, alone.get(number)) for number in range(len(results))]
    end += [first + i for i, each in enumerate(plan.stacked) if each in places]
    of_end = ", ".join(f"%l#{each}" for each in end) if len(types) > 1 else ""
    of_types = ", ".join(types[each or 0] for each in end)
    bound = f"%l:{len(types)}" if len(types) > 1 else "%l"
    looping = ", ".join(f"{n} = {s}" for n, s in zip(loop_names, starts, strict=True))
    arguments = ", ".join(
        f"%a{i}: {type_}" + (f" loc({json.dumps(name)})" if name else "")
        for i, (type_, name) in enumerate(zip(inputs, names, strict=True))
    )
    lines = "\n".join
    return f"""func.func @"{entry}"({arguments}) -> ({of_types}) {{
  %zero = stablehlo.constant dense<0> : {i32}
  %one = stablehlo.constant dense<1> : {i32}
  %steps = stablehlo.constant dense<{plan.steps}> : {i32}
  {lines(empty)}
  {bound} = stablehlo.while({looping}) : {", ".join(types)}
  cond {{
    %go = stablehlo.compare LT, %i, %steps : ({i32}, {i32}) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  }} do {{
    {lines(body)}
    stablehlo.return {", ".join(yielded)} : {", ".join(types)}
  }}
  return {of_end} {":" if end else ""} {of_types}
}}"""


def _stack_type(type_: ir.Type, count: int) -> str:
    tensor = ir.RankedTensorType(type_)
    return str(ir.RankedTensorType.get([count, *tensor.shape], tensor.element_type))


def _zeros(type_: ir.Type) -> str:
    """Numbers that each step overwrites."""
    element = ir.RankedTensorType(type_).element_type
    if isinstance(element, ir.ComplexType):
        return "dense<(0.0, 0.0)>"
    if isinstance(element, ir.IntegerType):
        return "dense<false>" if element.width == 1 else "dense<0>"
    return "dense<1.0>" if str(element) == _WITHOUT_ZERO else "dense<0.0>"
