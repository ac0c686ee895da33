"""Reductions of random windows, and the specification's formulas for them in numpy."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from float_cases import tensor
from reduction_bodies import Body, accumulator, small_numbers

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype


@dataclass(frozen=True)
class Windows:
    """The attributes of a `reduce_window`, a number or a pair per dim."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    base_dilations: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]

    def attributes(self, names: Sequence[str] = ()) -> str:
        """Those of `names`, or all of them, as MLIR text."""

        def numbers(values: Sequence[int]) -> str:
            return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"

        pads = str([list(pair) for pair in self.padding]) if self.padding else ""
        values = {
            "window_dimensions": numbers(self.sizes),
            "window_strides": numbers(self.strides),
            "base_dilations": numbers(self.base_dilations),
            "window_dilations": numbers(self.dilations),
            "padding": f"dense<{pads}> : tensor<{len(self.padding)}x2xi64>",
        }
        return ", ".join(f"{name} = {values[name]}" for name in names or values)

    def counts(self, shape: Sequence[int]) -> tuple[int, ...]:
        """How many windows there are along each dim of an operand of `shape`."""
        found = []
        for dim, size in enumerate(shape):
            dilated = (size - 1) * self.base_dilations[dim] + 1 if size else 0
            padded = dilated + sum(self.padding[dim])
            window = (self.sizes[dim] - 1) * self.dilations[dim] + 1
            count = 0 if window > padded else (padded - window) // self.strides[dim] + 1
            found.append(0 if padded == 0 else count)
        return tuple(found)


def random_windows(rng: np.random.Generator, rank: int) -> tuple[tuple[int, ...], Windows]:
    """A shape and its windows: also bigger than it, in padding alone, and between its elements."""

    def some(values: Sequence[int], weights: Sequence[float]) -> tuple[int, ...]:
        return tuple(int(each) for each in rng.choice(values, rank, p=weights))

    shape = some((0, 1, 2, 3, 5), (0.03, 0.17, 0.2, 0.3, 0.3))
    dilations = some((1, 2, 3), (0.6, 0.2, 0.2))
    padding = []
    for size, dilation in zip(shape, dilations, strict=True):
        dilated = (size - 1) * dilation + 1 if size else 0
        low = int(rng.choice([-1, 0, 1, 3], p=[0.15, 0.45, 0.25, 0.15]))
        high = int(rng.choice([-2, 0, 1, 2], p=[0.15, 0.45, 0.25, 0.15]))
        padding.append((low, high) if dilated + low + high >= 0 else (0, 0))
    return shape, Windows(
        sizes=some((1, 2, 3, 4), (0.3, 0.3, 0.25, 0.15)),
        strides=some((1, 2, 3), (0.5, 0.3, 0.2)),
        base_dilations=dilations,
        dilations=some((1, 2, 3), (0.6, 0.2, 0.2)),
        padding=tuple(padding),
    )


@dataclass(frozen=True)
class Case:
    """One op: its body, the arrays (inputs and then initial values), and what is particular."""

    name: str
    body: Body
    elements: tuple[str, ...]
    arrays: tuple[np.ndarray, ...]
    shape: tuple[int, ...]
    attributes: str
    expected: tuple[np.ndarray, ...]
    declared: str
    init: int | None

    def op(self, number: int, first: int) -> str:
        """The op on `%a<first>`, ..., giving `%r<number>`."""
        count, element = self.body.operands, self.declared
        text, before = self.body.of(element)
        scalar = tensor([], element)
        arguments = ", ".join(f"%{side}{k}: {scalar}" for side in "xy" for k in range(count))
        names = [f"%a{first + k}" for k in range(2 * count)]
        if self.init is not None:
            zero = f"{self.init}" if element.strip("ui").isdecimal() else f"{self.init}.0"
            zero = f"({zero}, 0.0)" if element.startswith("c") else zero
            before += f"\n%i{number} = stablehlo.constant dense<{zero}> : {scalar}"
            names[count:] = [f"%i{number}"] * count
        operands = ", ".join(names)
        types = ", ".join(
            tensor(array.shape, each)
            for array, each in zip(self.arrays, self.elements, strict=True)
        )
        return f"""{before}
        %r{number}:{count} = "stablehlo.{self.name}"({operands}) <{{{self.attributes}}}> ({{
        ^bb0({arguments}):
          {text}
        }}) : ({types}) -> ({", ".join(self.results())})""".replace("%PRE", f"%pre{number}")

    def results(self) -> list[str]:
        return [tensor(self.shape, self.declared)] * self.body.operands


def module_text(cases: Sequence[Case]) -> tuple[str, list[np.ndarray]]:
    """A module of all `cases`, and its arguments."""
    ops, parameters, arrays, names, types = [], [], [], [], []
    for number, case in enumerate(cases):
        ops.append(case.op(number, len(arrays)))
        for array, element in zip(case.arrays, case.elements, strict=True):
            parameters.append(f"%a{len(arrays)}: {tensor(array.shape, element)}")
            arrays.append(array)
        names += [f"%r{number}#{k}" for k in range(case.body.operands)]
        types += case.results()
    called = sorted({case.declared for case in cases})
    functions = [_difference(element) for element in called]
    newline = "\n"
    text = f"""{newline.join(functions)}
    func.func @main({", ".join(parameters)}) -> ({", ".join(types)}) {{
      {newline.join(ops)}
      return {", ".join(names)} : {", ".join(types)}
    }}"""
    return text, arrays


def _difference(element: str) -> str:
    scalar = tensor([], element)
    op = "xor" if element == "i1" else "subtract"
    return f"""func.func private @"difference_{element}"(%x: {scalar}, %y: {scalar}) -> {scalar} {{
      %z = stablehlo.{op} %y, %x : {scalar}
      return %z : {scalar}
    }}"""


def assert_match(cases: Sequence[Case]) -> None:
    """Compiled as one module, all cases give what is expected, to the bit."""
    text, arrays = module_text(cases)
    _assert_results(cases, mlir_fp8.compile(text)(*arrays))


def assert_interpreted(cases: Sequence[Case]) -> None:
    """StableHLO's reference interpreter gives what is expected."""
    text, arrays = module_text(cases)
    _assert_results(cases, mlir_fp8.interpret(mlir_fp8.load(text), *arrays))


def _assert_results(cases: Sequence[Case], results: Sequence[np.ndarray]) -> None:
    found = iter(results)
    for number, case in enumerate(cases):
        for wanted in case.expected:
            got = next(found)
            assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
            wide = complex if case.declared.startswith("c") else float
            if got.dtype.kind in "iu":
                wide = got.dtype
            np.testing.assert_array_equal(
                got.astype(wide), wanted.astype(wide), err_msg=f"{number}: {case}"
            )


def window_case(
    rng: np.random.Generator,
    body: Body,
    element: str,
    shape: Sequence[int],
    windows: Windows,
    *,
    narrow: str = "",
    init: int | None = None,
) -> Case:
    """A `reduce_window` to `element` of numbers of that type, or of `narrow`; `init` is a constant.

    Without `init` the initial values are arguments, and not neutral.
    """
    given = narrow or element
    inputs = [small_numbers(rng, shape, given) for _ in range(body.operands)]
    inits = [small_numbers(rng, (), given) for _ in range(body.operands)]
    if init is not None:
        inits = [np.asarray(init).astype(element_dtype(given))] * body.operands
    counts = windows.counts(shape)
    wide = accumulator(element)
    starts = [init.astype(wide) for init in inits]
    results = fold_windows([array.astype(wide) for array in inputs], starts, body, windows, counts)
    return Case(
        "reduce_window",
        body,
        (given,) * 2 * body.operands,
        (*inputs, *inits),
        counts,
        windows.attributes(),
        rounded(results, element),
        element,
        init,
    )


def rounded(results: Sequence[np.ndarray], element: str) -> tuple[np.ndarray, ...]:
    with np.errstate(all="ignore"):
        return tuple(result.astype(element_dtype(element)) for result in results)


def fold_windows(
    inputs: Sequence[np.ndarray],
    inits: Sequence[np.ndarray],
    body: Body,
    windows: Windows,
    counts: Sequence[int],
) -> list[np.ndarray]:
    """The specification of reduce_window: windows of the dilated, padded inputs, folded."""
    padded = [_padded(array, init, windows) for array, init in zip(inputs, inits, strict=True)]
    results = [np.empty(counts, array.dtype) for array in inputs]
    for position in np.ndindex(*counts):
        corner = [at * stride for at, stride in zip(position, windows.strides, strict=True)]
        window = tuple(
            slice(start, start + (size - 1) * dilation + 1, dilation)
            for start, size, dilation in zip(corner, windows.sizes, windows.dilations, strict=True)
        )
        sums = fold(body, inits, [array[window] for array in padded])
        for result, value in zip(results, sums, strict=True):
            result[position] = value
    return results


def fold(body: Body, inits: Sequence[np.ndarray], arrays: Sequence[np.ndarray]) -> tuple[Any, ...]:
    """From the left, in row-major order; numpy scalars of the arrays' type throughout."""
    sums = tuple(init[()] for init in inits)
    for elements in zip(*(array.reshape(-1) for array in arrays), strict=True):
        with np.errstate(all="ignore"):
            given = body.python(*sums, *elements)
        sums = tuple(s.dtype.type(value) for s, value in zip(sums, given, strict=True))
    return sums


def _padded(array: np.ndarray, init: np.ndarray, windows: Windows) -> np.ndarray:
    steps, sizes = windows.base_dilations, array.shape
    dilated = [(n - 1) * step + 1 if n else 0 for n, step in zip(sizes, steps, strict=True)]
    extents = [n + sum(pads) for n, pads in zip(dilated, windows.padding, strict=True)]
    result = np.full(extents, init[()], array.dtype)
    for place in itertools.product(*map(range, sizes)):
        at = [
            p * step + low for p, step, (low, _) in zip(place, steps, windows.padding, strict=True)
        ]
        if all(0 <= i < n for i, n in zip(at, extents, strict=True)):
            result[tuple(at)] = array[place]
    return result
