"""What `jax.export.Exported.serialize()` writes is read wherever an artifact is."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flatbuffers.table import Table

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.inspection.file import inspect_file
from mlir_fp8.tools import opt, run, translate

jax: Any = pytest.importorskip("jax")
export: Any = pytest.importorskip("jax.export")
jnp = jax.numpy
# Of `lambda a, unused, b: (a * 2 + b.sum(), b)` for cuda and cpu, serialized in 2024.
OLD = Path(__file__).parent / "Inputs" / "exported_by_jax_0.4.31.bin"
A, B = np.array([1, 2, 3], np.float32), np.array([1, 2, 3, 4], np.float32)
RESULT = [12.0, 14.0, 16.0]


def spec(shape: tuple[Any, ...], dtype: Any) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


def f(a: Any, unused: Any, b: Any) -> Any:
    return a * 2 + b.sum(), b


def serialized(function: Any, *arguments: Any, **options: Any) -> bytes:
    return bytes(export.export(jax.jit(function), **options)(*arguments).serialize())


@pytest.fixture(scope="module")
def data() -> bytes:
    return serialized(
        f, spec((3,), jnp.float32), spec((2, 2), jnp.float8_e4m3fn), spec((4,), jnp.float32)
    )


def types(module: Any) -> list[str]:
    return [str(each.type) for each in module.body.operations[0].arguments]


def test_callers_pass_all_arguments_of_the_function(data: bytes) -> None:
    compiled = mlir_fp8.compile(data)
    unused = np.zeros((2, 2), compiled.arguments[1].dtype)
    first, second = compiled(A, unused, B)
    assert first.tolist() == RESULT
    np.testing.assert_array_equal(second, B)


def test_an_old_one_for_two_platforms_is_that_of_the_cpu() -> None:
    module = mlir_fp8.load(OLD)
    assert types(module) == ["tensor<3xf32>", "tensor<2x2xf8E4M3FN>", "tensor<4xf32>"]
    compiled = mlir_fp8.compile(OLD)
    first, _ = compiled(A, np.zeros((2, 2), compiled.arguments[1].dtype), B)
    assert first.tolist() == RESULT


@pytest.mark.parametrize(
    ("platforms", "expected"),
    [(["cuda", "cpu"], np.sin(A)), (["cuda", "rocm"], np.cos(A)), (["rocm", "cuda"], np.tan(A))],
)
def test_the_platform_is_cpu_or_the_first(platforms: list[str], expected: Any) -> None:
    def g(a: Any, key: Any) -> Any:
        return jax.lax.platform_dependent(a, cpu=jnp.sin, cuda=jnp.cos, rocm=jnp.tan)

    key = jax.eval_shape(lambda: jax.random.key(0))
    data = serialized(g, spec((3,), jnp.float32), key, platforms=platforms)
    compiled = mlir_fp8.compile(data)
    got = compiled(A, np.zeros(2, np.uint32))[0]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_dropped_arguments_of_every_dtype() -> None:
    names = ("bool", "int4", "int8", "int16", "int32", "uint4", "uint8", "uint16", "uint32",
             "float16", "float32", "bfloat16", "complex64", "float8_e4m3fn", "float8_e5m2",
             "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3",
             "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn")  # fmt: skip
    every = tuple(spec((2, 3), getattr(jnp, name)) for name in names)
    kept = export.export(jax.jit(lambda *all_: all_))(*every)
    dropped = serialized(lambda x, *_: x, spec((), jnp.float32), *every)
    expected = ["tensor<f32>", *types(mlir_fp8.load(bytes(kept.serialize())))]
    assert types(mlir_fp8.load(dropped)) == expected


def test_open_sizes() -> None:
    (b,) = export.symbolic_shape("b")
    shapes = spec((b,), jnp.float32), spec((b, 2 * b), jnp.float8_e4m3fn), spec((4,), jnp.float32)
    compiled = mlir_fp8.compile(serialized(f, *shapes), shapes=[(3,), (3, 6), (4,)])
    first, _ = compiled(A, np.zeros((3, 6), compiled.arguments[1].dtype), B)
    assert first.tolist() == RESULT


def test_attributes_of_arguments_stay_where_they_are() -> None:
    donated = jax.jit(lambda unused, b: b * 2, donate_argnums=1)
    data = bytes(export.export(donated)(*[spec((4,), jnp.float32)] * 2).serialize())
    text = str(mlir_fp8.load(data))
    assert "@main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32> {" in text
    assert "stablehlo.multiply %arg1" in text


def test_tools(data: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.jax"
    path.write_bytes(data)
    assert str(mlir_fp8.deserialize(data)) == str(mlir_fp8.load(path))
    assert opt.main([str(path)]) == 0
    assert "tensor<2x2xf8E4M3FN>" in capfd.readouterr().out
    assert translate.main(["--deserialize", "--print-stablehlo-version", str(path)]) == 0
    assert "with StableHLO version: 1." in capfd.readouterr().out
    assert translate.main(["--serialize", "--target=1.0.0", str(path), "-o", f"{path}.1"]) == 0
    assert types(mlir_fp8.load(f"{path}.1")) == types(mlir_fp8.load(path))
    assert run.main([str(path), "--random", "0"]) == 0
    capfd.readouterr()
    assert translate.main(["--inspect", str(path)]) == 0
    assert "exported by JAX, with a StableHLO portable artifact" in capfd.readouterr().out
    facts = inspect_file(path)
    assert (facts.header.kind, facts.error) == ("exported", None)
    assert facts.functions[0].type.startswith("(tensor<3xf32>, tensor<2x2xf8E4M3FN>, ")


def patched(data: bytes, field: int, value: int) -> bytes:
    """`data` with another number in a field of two bytes."""
    changed = bytearray(data)
    table = Table(data, int.from_bytes(data[:4], "little"))
    at = table.Pos + table.Offset(4 + 2 * field)
    changed[at : at + 2] = value.to_bytes(2, "little")
    return bytes(changed)


def test_versions_are_checked(data: bytes) -> None:
    with pytest.raises(Fp8Error, match="serialization 99 is not known here: 1 to 11 are"):
        mlir_fp8.load(patched(data, 0, 99))
    with pytest.raises(Fp8Error, match=r"calling convention 11 of jax\.export is not known here"):
        mlir_fp8.load(patched(data, 14, 11))
    assert types(mlir_fp8.load(patched(data, 0, 11))) == types(mlir_fp8.load(data))


def test_damage_is_one_line(data: bytes) -> None:
    numbers = random.Random(0)
    refused = 0
    mutants = [data[:size] for size in range(0, len(data), 397)]
    for _ in range(30):
        mutant = bytearray(data)
        for _ in range(numbers.choice((1, 2, 8))):
            # The head: what is not the artifact, whose damage other tests try.
            mutant[numbers.randrange(400)] = numbers.randrange(256)
        mutants.append(bytes(mutant))
    for mutant in mutants:
        try:
            mlir_fp8.load(mutant)
        except Fp8Error as error:
            refused += 1
            assert str(error).startswith("<bytes>") and "\n" not in str(error)
    assert refused > len(mutants) // 2
    with pytest.raises(Fp8Error, match=r"damaged: not what jax\.export's serialize writes"):
        mlir_fp8.load(b"\xff" * 16 + data)
