"""`compile(simulate_devices=)`: collectives as StableHLO's interpreter has them."""

from typing import Any

import numpy as np
import pytest
from parallel_programs import CHANNEL, GLOBAL, Program, attribute, groups, interpreted, reducer

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.errors import Fp8Error

PAIRS = [[[0, 1], [1, 0]], [[0, 3], [3, 2]], [[1, 1]], []]
REPLICAS, PARTITIONS, BOTH = (4, 1), (1, 4), (2, 2)


def gather(rows: list[list[int]], channel: str, count: int, dim: int = 0) -> tuple[str, str]:
    shape = ["2x3", "2x3"]
    shape = [f"{2 * count}x3", f"2x{3 * count}"]
    line = f'%r = "stablehlo.all_gather"(%a) <{{all_gather_dim = {dim} : i64, '
    gives = f"{shape[dim]}xi64"
    return f"{line}{groups(rows, channel)}}}> : (tensor<2x3xi64>) -> tensor<{gives}>", gives


def reduce_(rows: list[list[int]], channel: str, op: str = "add") -> tuple[str, str]:
    line = f'%r = "stablehlo.all_reduce"(%a) <{{{groups(rows, channel)}}}> {reducer(op)}'
    return f"{line} : (tensor<2x3xi64>) -> tensor<2x3xi64>", "2x3xi64"


def scatter(
    rows: list[list[int]], channel: str, count: int, op: str = "maximum"
) -> tuple[str, str]:
    line = '%r = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 1 : i64, '
    line += f"{groups(rows, channel)}}}> {reducer(op)}"
    gives = f"2x{12 // count}xi64"
    return f"{line} : (tensor<2x12xi64>) -> tensor<{gives}>", gives


def to_all(rows: list[list[int]], channel: str, count: int) -> tuple[str, str]:
    line = '%r = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64'
    gives = f"{2 * count}x{12 // count}xi64"
    line += f", split_count = {count} : i64, {groups(rows, channel)}}}>"
    return f"{line} : (tensor<2x12xi64>) -> tensor<{gives}>", gives


def moved(op: str, attributes: str, channel: str) -> tuple[str, str]:
    given = ", ".join(filter(None, [channel, attributes]))
    return f'%r = "stablehlo.{op}"(%a) <{{{given}}}> : (tensor<3xi64>) -> tensor<3xi64>', "3xi64"


FORMS = [
    ("2x3xi64", gather([[0, 2, 1, 3]], "", 4), REPLICAS),
    ("2x3xi64", gather([[2, 0], [1, 3]], "", 2, 1), REPLICAS),
    ("2x3xi64", gather([[1, 0]], "", 2), BOTH),
    ("2x3xi64", gather([[0], [1]], CHANNEL, 2), BOTH),
    ("2x3xi64", gather([[1, 0]], CHANNEL, 4), BOTH),
    ("2x3xi64", gather([[3, 0], [2, 1]], GLOBAL, 2, 1), BOTH),
    ("2x3xi64", gather([[0]], CHANNEL, 4), PARTITIONS),
    ("2x3xi64", reduce_([[0, 1], [2, 3]], ""), REPLICAS),
    ("2x3xi64", reduce_([[0, 1, 3], [2, -1, -1]], "", "subtract"), REPLICAS),
    ("2x3xi64", reduce_([[1, 0]], CHANNEL, "subtract"), BOTH),
    ("2x3xi64", reduce_([[0, 1]], "", "multiply"), BOTH),
    ("2x3xi64", reduce_([[3, 1, 2, 0]], GLOBAL, "subtract"), BOTH),
    ("2x3xi64", reduce_([[1, 3], [0, 2]], GLOBAL, "minimum"), PARTITIONS),
    ("2x12xi64", scatter([[0, 1], [2, 3]], "", 2), REPLICAS),
    ("2x12xi64", scatter([[1, 0, 3, 2]], GLOBAL, 4, "subtract"), BOTH),
    ("2x12xi64", scatter([[1, 0]], CHANNEL, 4), BOTH),
    ("2x12xi64", to_all([[0, 1], [2, 3]], "", 2), REPLICAS),
    ("2x12xi64", to_all([[2, 0, 1, 3]], "", 4), REPLICAS),
    ("2x12xi64", to_all([[1, 0]], CHANNEL, 2), BOTH),
    ("2x12xi64", to_all([[1, 0, 3, 2]], CHANNEL, 4), PARTITIONS),
    *(
        ("3xi64", moved("collective_permute", attribute("source_target_pairs", pairs), channel),
         grid)
        for pairs in PAIRS for channel, grid in [("", REPLICAS), (CHANNEL, PARTITIONS)]
    ),
    ("3xi64", moved("collective_permute", attribute("source_target_pairs", [[0, 1]]), ""), BOTH),
    ("3xi64", moved("collective_permute", attribute("source_target_pairs", [[1, 0]]), CHANNEL),
     BOTH),
    ("3xi64", moved("collective_broadcast", groups([[2, 1]]), ""), REPLICAS),
    ("3xi64", moved("collective_broadcast", groups([[0, 2], [3, 1]]), CHANNEL), PARTITIONS),
]  # fmt: skip


PROGRAMS = [Program(lines, takes, gives, grid) for takes, (lines, gives), grid in FORMS]


def numbers(program: Program) -> np.ndarray:
    """An argument for each of its devices."""
    shape = [4, *(int(size) for size in program.takes.split("x")[:-1])]
    return np.random.default_rng(0).integers(-9, 9, shape)


@pytest.fixture(scope="module")
def wanted() -> dict[str, np.ndarray]:
    given = [(program, numbers(program)) for program in PROGRAMS]
    return dict(zip(map(str, PROGRAMS), interpreted(given), strict=True))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.lines.split('"')[1])
def test_the_interpreter_agrees(program: Program, wanted: dict[str, np.ndarray]) -> None:
    got = program.simulated(numbers(program))
    np.testing.assert_array_equal(got, wanted[str(program)])


def run(text: str, devices: Any, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return mlir_fp8.compile(text, simulate_devices=devices)(*arrays)


def refusal(text: str, devices: object, *arrays: np.ndarray) -> str:
    with pytest.raises(Fp8Error) as caught:
        run(text, devices, *arrays)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "element",
    ["f8E4M3FN", "f8E8M0FNU", "f4E2M1FN", "bf16", "f64", "i1", "i4", "ui16", "complex<f32>",
     "complex<f64>"],
)  # fmt: skip
def test_every_element_type_is_moved_to_the_bit(element: str) -> None:
    dtype = element_dtype(element)
    codes = np.random.default_rng(1).integers(0, 2, (4, 2, dtype.itemsize), np.uint8)
    arrays = codes.view(dtype)
    text = f"""func.func @main(%a: tensor<2x1x{element}>) -> tensor<4x2x{element}> {{
      %0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64,
        {groups([[3, 1], [0, 2]])}}}> : (tensor<2x1x{element}>) -> tensor<2x2x{element}>
      %1 = "stablehlo.all_gather"(%0) <{{all_gather_dim = 0 : i64,
        {groups([[0, 1], [2, 3]])}}}> : (tensor<2x2x{element}>) -> tensor<4x2x{element}>
      return %1 : tensor<4x2x{element}>
    }}"""
    (got,) = run(text, 4, arrays)
    pairs = [np.concatenate([arrays[i] for i in order], 1) for order in ((3, 1), (0, 2))]
    first = [pairs[1], pairs[0], pairs[1], pairs[0]]
    want = [np.concatenate(first[2 * (i // 2) : 2 * (i // 2) + 2]) for i in range(4)]
    assert got.tobytes() == np.stack(want).tobytes()


def test_a_sum_rounds_at_every_device_in_their_order() -> None:
    line = f'%r = "stablehlo.all_reduce"(%a) <{{{groups([[2, 0, 1]])}}}> {reducer("add", "bf16")}'
    text = Program(f"{line} : (tensor<1xbf16>) -> tensor<1xbf16>", "1xbf16", "1xbf16", (3, 1)).text
    arrays = np.array([[256], [1], [1]]).astype(element_dtype("bf16"))
    assert run(text, 3, arrays)[0].ravel().tolist() == [256, 256, 256]
    assert run(text, 3, arrays[::-1].copy())[0].ravel().tolist() == [258, 258, 258]


def test_a_body_wider_than_its_operand_and_several_operands() -> None:
    text = f"""func.func @main(
        %a: tensor<2xf8E4M3FN>, %b: tensor<3xf8E4M3FN>, %c: tensor<0xf8E4M3FN>)
        -> (tensor<2xf32>, tensor<3xf32>, tensor<0xf32>) {{
      %0:3 = "stablehlo.all_reduce"(%a, %b, %c) <{{{groups([[0, 1]])}}}> {reducer("add", "f32")}
        : (tensor<2xf8E4M3FN>, tensor<3xf8E4M3FN>, tensor<0xf8E4M3FN>)
        -> (tensor<2xf32>, tensor<3xf32>, tensor<0xf32>)
      return %0#0, %0#1, %0#2 : tensor<2xf32>, tensor<3xf32>, tensor<0xf32>
    }}"""
    f8 = element_dtype("f8E4M3FN")
    a, b = np.full((2, 2), 440).astype(f8), np.arange(6).reshape(2, 3).astype(f8)
    got = run(text, 2, a, b, np.empty((2, 0), f8))
    assert got[0].tolist() == [[896, 896]] * 2
    assert got[1].tolist() == [[3, 5, 7]] * 2
    assert got[2].shape == (2, 0)


LOOP = f"""func.func @main(%n: tensor<i64>, %a: tensor<2xi64>) -> (tensor<2xi64>, tensor<i64>) {{
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i64>, tensor<2xi64>
  cond {{
    %c = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %s = "stablehlo.all_reduce"(%v) <{{{groups([[0, 1], [2, 3]])}}}> {reducer()}
      : (tensor<2xi64>) -> tensor<2xi64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %s : tensor<i64>, tensor<2xi64>
  }}
  return %0#1, %0#0 : tensor<2xi64>, tensor<i64>
}}"""


def test_groups_go_round_a_loop_as_often_as_they_like() -> None:
    a = np.arange(8).reshape(4, 2)
    got, turns = run(LOOP, 4, np.array([1, 1, 3, 3]), a)
    first, second = a[0] + a[1], 4 * (a[2] + a[3])
    assert got.tolist() == [first.tolist()] * 2 + [second.tolist()] * 2
    assert turns.tolist() == [1, 1, 3, 3]


def test_who_waits_for_ever_is_told() -> None:
    a = np.zeros((4, 2), np.int64)
    told = refusal(LOOP, 4, np.array([1, 1, 3, 2]), a)
    assert "<module>:9:10: 'stablehlo.all_reduce' never ends: device 2 waits in it for" in told
    assert "device 3, which has ended" in told
    compiled = mlir_fp8.compile(LOOP, simulate_devices=4)
    for _ in range(2):  # a run that never ends leaves nothing behind
        with pytest.raises(Fp8Error, match="never ends"):
            compiled(np.array([1, 2, 0, 0]), a)
        compiled(np.array([2, 2, 0, 0]), a)


CROSSED = f"""func.func @main(%p: tensor<i1>, %a: tensor<2xi64>) -> tensor<2xi64> {{
  %0 = "stablehlo.if"(%p) ({{
    %1 = "stablehlo.all_reduce"(%a) <{{{groups([[0, 1]])}}}> {reducer()}
      : (tensor<2xi64>) -> tensor<2xi64>
    stablehlo.return %1 : tensor<2xi64>
  }}, {{
    %1 = "stablehlo.all_reduce"(%a) <{{{groups([[0, 1]])}}}> {reducer("multiply")}
      : (tensor<2xi64>) -> tensor<2xi64>
    stablehlo.return %1 : tensor<2xi64>
  }}) : (tensor<i1>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}}"""


def test_devices_in_two_collectives_do_not_meet() -> None:
    a = np.full((2, 2), 3)
    assert run(CROSSED, 2, np.array([True, True]), a)[0].tolist() == [[6, 6]] * 2
    assert run(CROSSED, 2, np.array([False, False]), a)[0].tolist() == [[9, 9]] * 2
    told = refusal(CROSSED, 2, np.array([True, False]), a)
    assert "which waits in 'stablehlo.all_reduce' (<module>:" in told


def test_async_ops_and_the_sum_of_all_replicas() -> None:
    text = """func.func @main(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %f = "stablehlo.async_start"(%a) ({
      ^bb0(%x: tensor<3xf32>):
        %s = "stablehlo.collective_permute"(%x)
          {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}
          : (tensor<3xf32>) -> tensor<3xf32>
        stablehlo.return %s : tensor<3xf32>
      }) : (tensor<3xf32>) -> !stablehlo.future<tensor<3xf32>>
      %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<3xf32>>) -> tensor<3xf32>
      %1 = "stablehlo.cross-replica-sum"(%a) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
        : (tensor<3xf32>) -> tensor<3xf32>
      return %0, %1 : tensor<3xf32>, tensor<3xf32>
    }"""
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    moved, total = run(text, 2, a)
    assert moved.tolist() == [[0, 0, 0], a[0].tolist()]
    assert total.tolist() == [a.sum(0).tolist()] * 2


def test_ids_of_a_grid() -> None:
    text = """func.func @main() -> (tensor<ui32>, tensor<ui32>) {
      %0 = stablehlo.replica_id : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      return %0, %1 : tensor<ui32>, tensor<ui32>
    }"""
    replica, partition = run(text, (2, 3))
    assert replica.tolist() == [0, 0, 0, 1, 1, 1]
    assert partition.tolist() == [0, 1, 2, 0, 1, 2]
    said = "module attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 6 : i32} {"
    assert run(f"{said} {text} }}", 6)[1].tolist() == [0, 1, 2, 3, 4, 5]
    told = refusal(f"{said} {text} }}", (2, 3))
    assert told.startswith("2 replicas of 3 partitions are asked for, and the module is for 1 rep")
    assert "6 devices" not in refusal(f"{said} {text} }}", (6, 1))
    assert refusal(f"{said} {text} }}", 4).startswith("4 devices are asked for")


def test_many_devices() -> None:
    rows = [list(range(512))]
    line = f'%r = "stablehlo.all_reduce"(%a) <{{{groups(rows)}}}> {reducer()}'
    program = Program(f"{line} : (tensor<2xi64>) -> tensor<2xi64>", "2xi64", "2xi64", (512, 1))
    a = np.arange(1024).reshape(512, 2)
    assert (program.simulated(a) == a.sum(0)).all()


@pytest.mark.parametrize(
    ("devices", "reason"),
    [(0, "simulate_devices is 0"), (513, "513 devices cannot be simulated: 512 at most"),
     ((2, 300), "600 devices"), (True, "simulate_devices is True"), ((2,), "simulate_devices"),
     ("4", "simulate_devices is '4'")],
)  # fmt: skip
def test_wrong_numbers_of_devices(devices: object, reason: str) -> None:
    assert reason in refusal(LOOP, devices)


@pytest.mark.parametrize(
    ("line", "reason"),
    [(f'"stablehlo.all_reduce"(%a) <{{{groups([[0, 1]])}}}> {reducer()}',
      "is without 2 in its replica_groups"),
     (f'"stablehlo.all_reduce"(%a) <{{{groups([[0, 1, 2, 3]])}}}> {reducer()}', "is among 3 too"),
     (f'"stablehlo.all_reduce"(%a) <{{{groups([[0, 1, 2]])}, use_global_device_ids}}> {reducer()}',
      "use_global_device_ids without a channel|channel_id must be positive"),
     (f'"stablehlo.collective_permute"(%a) <{{{attribute("source_target_pairs", [[0, 5]])}}}>',
      "is among 5 too")],
)  # fmt: skip
def test_groups_of_other_devices_are_refused(line: str, reason: str) -> None:
    text = Program(f"%r = {line} : (tensor<2xi64>) -> tensor<2xi64>", "2xi64", "2xi64", (3, 1)).text
    with pytest.raises(Fp8Error, match=reason):
        run(text, 3, np.zeros((3, 2), np.int64))


def test_what_goes_without() -> None:
    for options in ({"threads": 2}, {"donate": True}, {"backend": "xla"}, {"on_stage": print}):
        with pytest.raises(Fp8Error, match="goes without simulate_devices"):
            mlir_fp8.compile(LOOP, simulate_devices=4, **options)  # type: ignore[call-overload]
    text = """func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
      %t = stablehlo.create_token : !stablehlo.token
      %0, %u = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
      return %0 : tensor<3xf32>
    }"""
    assert "'stablehlo.infeed' talks to a host" in refusal(text, 2, np.zeros(3, np.float32))


COUNTED = f"""func.func @main(%a: tensor<2xi64>) -> tensor<2xi64> {{
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %limit = stablehlo.constant dense<40> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i64>, tensor<2xi64>
  cond {{
    %t = "stablehlo.all_reduce"(%i) <{{{groups([[0, 1, 2]])}}}> {reducer()}
      : (tensor<i64>) -> tensor<i64>
    %c = stablehlo.compare LT, %t, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %id = stablehlo.replica_id : tensor<ui32>
    %own = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
    %k = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %p = "stablehlo.case"(%k) ({{
      stablehlo.return %v : tensor<2xi64>
    }}, {{
      %w = stablehlo.add %v, %v : tensor<2xi64>
      stablehlo.return %w : tensor<2xi64>
    }}) : (tensor<i32>) -> tensor<2xi64>
    %m = "stablehlo.collective_permute"(%p)
      <{{{attribute("source_target_pairs", [[0, 1], [1, 2], [2, 0]])}}}>
      : (tensor<2xi64>) -> tensor<2xi64>
    %j = stablehlo.add %i, %own : tensor<i64>
    stablehlo.return %j, %m : tensor<i64>, tensor<2xi64>
  }}
  return %0#1 : tensor<2xi64>
}}"""


def test_devices_meet_in_the_condition_of_a_loop() -> None:
    a = np.arange(6).reshape(3, 2) + 1
    values, counts = a, np.zeros(3, int)
    while counts.sum() < 40:
        values = (values * [[1], [2], [2]])[[2, 0, 1]]
        counts += np.arange(3)
    assert run(COUNTED, 3, a)[0].tolist() == values.tolist()
