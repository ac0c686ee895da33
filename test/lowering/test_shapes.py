"""Sizes of zero and one, rank 0 and rank 8, against numpy."""

import math

import numpy as np
import pytest

import mlir_fp8

SHAPES = [
    (),
    (0,),
    (1,),
    (0, 3),
    (3, 0, 2),
    (1, 1, 1),
    (1, 5, 1),
    (2, 1, 1, 2, 1, 1, 1, 3),
    (1, 2, 0, 1, 1, 2, 1, 1),
    (1,) * 8,
]
ELEMENTS = {"f32": np.float32, "i32": np.int32, "ui8": np.uint8, "i1": np.bool_}


def _type(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def _array(shape: tuple[int, ...], element: str) -> np.ndarray:
    numbers = np.random.default_rng(len(shape)).integers(0, 100, shape)
    return np.asarray(numbers % 2 if element == "i1" else numbers, ELEMENTS[element])


class _Program:
    """A function of one argument, a result per step, and what numpy makes of it."""

    def __init__(self, shape: tuple[int, ...], element: str) -> None:
        self.array, self.element = _array(shape, element), element
        self.lines: list[str] = []
        self.types: list[str] = []
        self.wanted: list[np.ndarray] = []

    def add(self, line: str, want: np.ndarray, element: str = "") -> None:
        type_ = _type(want.shape, element or self.element)
        self.lines.append(f"%r{len(self.types)} = {line} -> {type_}")
        self.types.append(type_)
        self.wanted.append(want)

    def check(self) -> None:
        names = ", ".join(f"%r{index}" for index in range(len(self.types)))
        types = ", ".join(self.types)
        body = "\n  ".join(self.lines)
        zero = "false" if self.element == "i1" else "0.0" if self.element == "f32" else "0"
        results = mlir_fp8.compile(f"""
          func.func @main(%a: {_type(self.array.shape, self.element)}) -> ({types}) {{
            %zero = stablehlo.constant dense<{zero}> : tensor<{self.element}>
            %rows = stablehlo.constant dense<[0, {max(0, [*self.array.shape, 1][0] - 1)}]>
              : tensor<2xi32>
            {body}
            return {names} : {types}
          }}""")(self.array)
        for line, got, want in zip(self.lines, results, self.wanted, strict=True):
            np.testing.assert_array_equal(got, want, err_msg=line, strict=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element", ELEMENTS)
def test_every_op(shape: tuple[int, ...], element: str) -> None:
    program = _Program(shape, element)
    a, t, rank = program.array, _type(shape, element), len(shape)
    program.add(f'"stablehlo.or"(%a, %a) : ({t}, {t})' if element != "f32"
                else f'"stablehlo.add"(%a, %a) : ({t}, {t})',
                a | a if element != "f32" else a + a)  # fmt: skip
    program.add(f"stablehlo.compare GE, %a, %a : ({t}, {t})", a >= a, "i1")
    program.add(f"stablehlo.reshape %a : ({t})", a.reshape(1, math.prod(shape)))
    order = list(range(rank))[::-1]
    program.add(f"stablehlo.transpose %a, dims = {order} : ({t})", a.transpose(order))
    program.add(
        f"stablehlo.broadcast_in_dim %a, dims = {[i + 1 for i in range(rank)]} : ({t})",
        np.ascontiguousarray(np.broadcast_to(a, (2, *shape))),
    )
    every = f"across dimensions = {list(range(rank))} : ({t}, tensor<{element}>)"
    largest = np.asarray(np.max(a, initial=a.dtype.type(0)))
    program.add(f"stablehlo.reduce(%a init: %zero) applies stablehlo.maximum {every}", largest)
    if rank:
        _with_axes(program)
    program.check()


def _with_axes(program: _Program) -> None:
    a, element = program.array, program.element
    shape, t, rank = a.shape, _type(a.shape, element), a.ndim
    last = f"across dimensions = [{rank - 1}] : ({t}, tensor<{element}>)"
    largest = np.max(a, axis=-1, initial=a.dtype.type(0))
    program.add(f"stablehlo.reduce(%a init: %zero) applies stablehlo.maximum {last}", largest)
    program.add(f"stablehlo.concatenate %a, %a, dim = 0 : ({t}, {t})", np.concatenate([a, a]))
    low, high = [1] * rank, [0] * rank
    program.add(
        f"stablehlo.pad %a, %zero, low = {low}, high = {high}, interior = {high}"
        f" : ({t}, tensor<{element}>)",
        np.pad(a, [(1, 0)] * rank),
    )
    program.add(
        f'"stablehlo.sort"(%a) ({{\n^bb0(%x: tensor<{element}>, %y: tensor<{element}>):\n'
        f"%p = stablehlo.compare LT, %x, %y : (tensor<{element}>, tensor<{element}>)"
        f" -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n}})"
        f" {{dimension = {rank - 1} : i64}} : ({t})",
        np.sort(a, axis=-1),
    )
    if shape[0]:
        sizes = ", ".join(map(str, (1, *shape[1:])))
        gather = f"offset_dims = {list(range(1, rank))}, collapsed_slice_dims = [0]"
        program.add(
            f'"stablehlo.gather"(%a, %rows) {{dimension_numbers = #stablehlo.gather<{gather},'
            f" start_index_map = [0], index_vector_dim = 1>,"
            f" slice_sizes = array<i64: {sizes}>}} : ({t}, tensor<2xi32>)",
            a[[0, shape[0] - 1]],
        )
    if element == "f32":
        program.add(
            f"stablehlo.dot_general %a, %a, contracting_dims = [{rank - 1}] x [{rank - 1}]"
            f" : ({t}, {t})",
            np.asarray(np.tensordot(a, a, (-1, -1)), np.float32),
        )
