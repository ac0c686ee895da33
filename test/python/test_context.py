"""What a context costs those who walk over its modules."""

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec

import pytest

import mlir_fp8
from mlir_fp8.base.operations import operations

TEXT = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  %1 = chlo.erf %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


class _Searches:
    """Notes which modules Python looks for on disk."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        self.names.append(name)
        return None


@pytest.fixture
def searches() -> Iterator[_Searches]:
    finder = _Searches()
    sys.meta_path.insert(0, finder)
    yield finder
    sys.meta_path.remove(finder)


def test_walks_search_no_disk_for_the_classes_of_ops(searches: _Searches) -> None:
    module = mlir_fp8.load(TEXT)
    names = [op.name for op in operations(module.operation)]
    users = [use.owner for op in operations(module.operation) for r in op.results for use in r.uses]
    assert "chlo.erf" in names and len(users) == 2
    assert not {"torch_mlir.dialects.chlo", "torch_mlir.dialects.stablehlo"} & {*searches.names}
