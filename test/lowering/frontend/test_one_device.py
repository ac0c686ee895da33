"""Collectives and barriers: what one process gives, and what it refuses by name."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error

ADD = """({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
})"""
FORMS = [
    ("all_gather", "", "all_gather_dim = 0 : i64,"),
    ("all_reduce", ADD, ""),
    ("reduce_scatter", ADD, "scatter_dimension = 0 : i64,"),
    ("all_to_all", "", "split_dimension = 0 : i64, concat_dimension = 0 : i64,"
                       " split_count = 1 : i64,"),
    ("collective_broadcast", "", ""),
]  # fmt: skip


def _program(op: str, body: str, attributes: str) -> str:
    return f"""func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {{
      %0 = "stablehlo.{op}"(%a) {body} {{{attributes}}} : (tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }}"""


@pytest.mark.parametrize(("op", "body", "attributes"), FORMS)
def test_a_collective_of_one_is_the_identity(op: str, body: str, attributes: str) -> None:
    given = np.array([1, -0.0, np.nan], np.float32)
    groups = "replica_groups = dense<0> : tensor<1x1xi64>"
    (got,) = mlir_fp8.compile(_program(op, body, f"{attributes} {groups}"))(given)
    assert got.tobytes() == given.tobytes()


@pytest.mark.parametrize(("op", "body", "attributes"), FORMS)
def test_a_collective_of_two_is_refused(op: str, body: str, attributes: str) -> None:
    groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
    # Where a group's size decides the result's shape, the verifier is the one that refuses.
    with pytest.raises(Fp8Error, match=rf"stablehlo\.{op}|shape|group size"):
        mlir_fp8.compile(_program(op, body, f"{attributes} {groups}"))


def test_ids_permutation_and_barrier() -> None:
    compiled = mlir_fp8.compile("""
      func.func @main(%a: tensor<3xf32>)
        -> (tensor<ui32>, tensor<ui32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
        %0 = stablehlo.partition_id : tensor<ui32>
        %1 = stablehlo.replica_id : tensor<ui32>
        %2 = "stablehlo.collective_permute"(%a)
          {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}
          : (tensor<3xf32>) -> tensor<3xf32>
        %3 = "stablehlo.collective_permute"(%a)
          {source_target_pairs = dense<> : tensor<0x2xi64>}
          : (tensor<3xf32>) -> tensor<3xf32>
        %4 = stablehlo.optimization_barrier %a : tensor<3xf32>
        return %0, %1, %2, %3, %4
          : tensor<ui32>, tensor<ui32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
      }""")
    given = np.array([1, 2, 3], np.float32)
    partition, replica, sent, unsent, kept = compiled(given)
    assert (int(partition), int(replica)) == (0, 0)
    np.testing.assert_array_equal(sent, given)
    np.testing.assert_array_equal(unsent, [0, 0, 0])
    np.testing.assert_array_equal(kept, given)


@pytest.mark.parametrize("op", ["infeed", "recv"])
def test_a_host_is_not_there(op: str) -> None:
    channel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>"
    attributes = f"{{{channel}, is_host_transfer = true}}" if op == "recv" else ""
    with pytest.raises(Fp8Error, match=f"'stablehlo.{op}' talks to a host that is not there"):
        mlir_fp8.compile(f"""func.func @main() -> tensor<3xf32> {{
          %t = stablehlo.create_token : !stablehlo.token
          %0, %u = "stablehlo.{op}"(%t) {attributes} : (!stablehlo.token)
            -> (tensor<3xf32>, !stablehlo.token)
          return %0 : tensor<3xf32>
        }}""")
