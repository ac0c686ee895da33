"""The `fp8` dialect in contexts: known where a module mentions it, in whatever form."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.dialects.fp8 import Convert
from mlir_fp8.dialects.fp8_loading import knows_fp8_dialect

TEXT = "".join(
    f"""func.func @f{i}(%x: tensor<4xf32>) -> tensor<4xf8E5M2> {{
      %0 = "fp8.convert"(%x) {{rounding = "toward_zero"}} : (tensor<4xf32>) -> tensor<4xf8E5M2>
      return %0 : tensor<4xf8E5M2>
    }}
    """
    for i in range(20)
)


def test_text_and_bytecode_load_the_dialect() -> None:
    module = mlir_fp8.load(TEXT)
    assert knows_fp8_dialect(module.context)
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    again = mlir_fp8.load(bytecode.getvalue())
    assert str(again) == str(module)
    op = again.body.operations[0].regions[0].blocks[0].operations[0]
    assert isinstance(op, Convert)
    assert str(op.rounding) == '"toward_zero"'


def test_other_modules_do_not() -> None:
    module = mlir_fp8.load("func.func @main() { return }")
    assert not knows_fp8_dialect(module.context)


def test_a_context_with_threads_verifies_it() -> None:
    """Its verifiers are Python: MLIR's threads would deadlock on Python's lock."""
    module = mlir_fp8.load(TEXT, context=make_context(threads=True))
    assert module.operation.verify()


def test_threads_load_it_at_once() -> None:
    """Each for its own context: the classes of the ops are the same for all."""

    def loads(_: int) -> list[str]:
        return [str(mlir_fp8.load(TEXT)) for _ in range(8)]

    with ThreadPoolExecutor(4) as threads:
        texts = {text for found in threads.map(loads, range(4)) for text in found}
    assert len(texts) == 1


def test_artifacts_hold_its_ops_where_that_is_asked_for() -> None:
    module = mlir_fp8.load(TEXT)
    artifact = mlir_fp8.serialize(module, "current", allow_other_dialects=True)
    assert str(mlir_fp8.deserialize(artifact)) == str(module)


@pytest.mark.parametrize(
    "attribute",
    [
        'rounding = "\\FF"',
        "rounding = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>",
        'rounding = "toward_zero", other = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>',
        'rounding = "toward_zero", operandSegmentSizes = array<i32: 7, 8>',
        'rounding = "toward_zero", operandSegmentSizes = array<i32: 1, 1>',
        'rounding = "toward_zero", saturate = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>',
    ],
)
def test_odd_attributes_are_errors(attribute: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'fp8\.convert' op has "):
        mlir_fp8.load(TEXT.replace('rounding = "toward_zero"', attribute))


def test_sizes_that_are_right_are_no_error() -> None:
    """Builders generated from the class add them."""
    attributes = 'rounding = "toward_zero", operandSegmentSizes = array<i32: 1, 0>'
    assert mlir_fp8.load(TEXT.replace('rounding = "toward_zero"', attributes)).operation.verify()
