"""The table of kernels, and files of rows that go before it."""

import re
from pathlib import Path

import numpy as np
import pytest
from kernel_products import Case, Form, program, to_kernels

import mlir_fp8
from mlir_fp8 import Fp8Error
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.compiling.native.code_key import code_key
from mlir_fp8.lowering.kernels.products.choices_file import (
    VARIABLE,
    given_choices,
    written_choices,
)
from mlir_fp8.lowering.kernels.products.choices_table import IN_PLACE, TABLE, Choice
from mlir_fp8.lowering.kernels.vector_code.target import host_target

F8, BYTES, F32 = ("f8E4M3FN", "f8E4M3FN"), ("i8", "i8"), ("f32", "f32")
NK, KN = "mk,nk->mn", "mk,kn->mn"


def case(letters: str, m: int, k: int, n: int, elements: tuple[str, str]) -> Case:
    return Form(letters, {"m": m, "k": k, "n": n}), elements


def kernels(one: Case, target: str) -> str:
    """The module with the kernels of a product."""
    module = copy_of(mlir_fp8.load(program([one])))
    to_kernels(module, f"target={target} min-size=1")
    return str(module)


@pytest.mark.parametrize(
    ("target", "letters", "elements", "right", "most"),
    [
        ("amx-bf16", NK, F8, (600, 600), 4),
        ("amx-bf16", KN, F8, (600, 600), 4),
        ("amx-bf16", NK, F32, (600, 600), 32),
        ("amx-bf16", NK, BYTES, (600, 600), 16),
        ("amx-bf16", KN, BYTES, (600, 600), 8),
        ("avx512-bf16", NK, F8, (600, 600), 32),
        ("avx512", KN, F8, (600, 600), 8),
        ("zen", NK, F8, (511, 512), 12),
        ("zen", NK, F8, (512, 512), 32),
        ("zen", KN, F8, (512, 512), 8),
        ("zen", NK, BYTES, (512, 512), 16),
        ("neon", KN, BYTES, (512, 512), 12),
        ("neon-bf16", NK, F8, (512, 512), 32),
    ],
)
def test_rows_for_which_the_right_operand_is_read_in_place(
    target: str, letters: str, elements: tuple[str, str], right: tuple[int, int], most: int
) -> None:
    k, n = right
    assert "call @skinny" in kernels(case(letters, most, k, n, elements), target)
    assert "call @tile" in kernels(case(letters, most + 1, k, n, elements), target)


@pytest.mark.parametrize(
    ("target", "elements", "rows"),
    [
        ("avx512", F32, 6),
        ("avx512-bf16", F8, 12),
        ("avx512-bf16", BYTES, 5),
        ("avx512-bf16", ("i8", "ui8"), 12),
        ("avx2-vnni", BYTES, 4),
        ("avx2-vnni", ("ui8", "i8"), 6),
        ("avx2", BYTES, 6),
    ],
)
def test_register_tiles(target: str, elements: tuple[str, str], rows: int) -> None:
    assert _tile_rows(kernels(case(KN, 64, 64, 64, elements), target)) == rows


def _tile_rows(text: str) -> int:
    """Of the scratch buffer of the tile at the edge."""
    tile = text[text.index("func private @tile") :]
    found = re.search(r"memref\.alloca\(\).*: memref<(\d+)x\d+x[fi]32>", tile)
    assert found is not None
    return int(found[1])


def given(monkeypatch: pytest.MonkeyPatch, folder: Path, *rows: Choice) -> Path:
    file = folder / "choices.json"
    file.write_text(written_choices(list(rows)))
    monkeypatch.setenv(VARIABLE, str(file))
    return file


def test_rows_of_a_file_go_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few, many = case(NK, 2, 70, 40, F32), case(NK, 64, 70, 40, F32)
    rows = (
        Choice("avx512", "f32", "nk", most_rows=1, kernel=IN_PLACE),
        Choice("avx512", "f32", tile=(5, 3), depth=64),
    )
    given(monkeypatch, tmp_path, *rows)
    assert given_choices() == list(rows)
    changed = kernels(few, "avx512")
    assert "call @skinny" not in changed
    assert _tile_rows(changed) == 5
    assert _tile_rows(kernels(many, "avx512")) == 5
    assert "call @skinny" in kernels(few, "avx2")
    monkeypatch.delenv(VARIABLE)
    assert "call @skinny" in kernels(few, "avx512")
    assert _tile_rows(kernels(many, "avx512")) == 6


@pytest.mark.parametrize(
    "row",
    [
        Choice(kernel=IN_PLACE),
        Choice(tile=(3, 1), depth=32, cached_bytes=1, block_rows=1, block_columns=1, item_rows=1),
        Choice(tile=(4, 2), depth=4096, cached_bytes=1 << 22, block_rows=4096, least_columns=999),
    ],
    ids=repr,
)
def test_any_row_gives_the_products(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, row: Choice
) -> None:
    """Sums of small whole numbers, which are exact in whatever order."""
    generator = np.random.default_rng(2)
    cases = [
        case(letters, m, 300, 45, elements)
        for letters in (NK, KN)
        for m in (1, 37)
        for elements in (F8, BYTES, F32)
    ]
    text = program(cases)
    given(monkeypatch, tmp_path, row)
    compiled = mlir_fp8.compile(text, threads=2)
    arrays = [
        generator.integers(-4, 5, spec.shape).astype(spec.dtype) for spec in compiled.arguments
    ]
    for i, (form, _) in enumerate(cases):
        pair = [each.astype(np.int32) for each in arrays[2 * i : 2 * i + 2]]
        got = compiled(*arrays)[i]
        np.testing.assert_array_equal(got, np.einsum(form.letters, *pair), err_msg=str(form))


def test_code_on_disk_depends_on_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without = code_key("module")
    file = given(monkeypatch, tmp_path, Choice(depth=64))
    with_one = code_key("module")
    file.write_text(written_choices([Choice(depth=96)]))
    assert len({without, with_one, code_key("module")}) == 3


def test_the_table_ends_with_a_row_for_all() -> None:
    assert TABLE[-1] == Choice()
    assert host_target().name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "is not what `tune` writes"),
        ("{", "is not what `tune` writes"),
        ('{"kernels": [1]}', "is not what `tune` writes"),
        ('{"kernels": [{"rows": 4}]}', r"a row has 'rows' \(there are: targets, operands"),
        ('{"kernels": [{"kernel": "fast"}]}', 'a row has kernel = "fast"'),
        ('{"kernels": [{"depth": 33}]}', "a row has depth = 33"),
        ('{"kernels": [{"depth": true}]}', "a row has depth = true"),
        ('{"kernels": [{"tile": [0, 4]}]}', r"a row has tile = \[0, 4\]"),
        ('{"kernels": [{"most_rows": -1}]}', "a row has most_rows = -1"),
        ('{"kernels": [{"targets": null}]}', "a row has targets = null"),
    ],
)
def test_refused_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, reason: str
) -> None:
    file = tmp_path / "choices.json"
    file.write_text(text)
    monkeypatch.setenv(VARIABLE, str(file))
    with pytest.raises(Fp8Error, match=f"{VARIABLE}={re.escape(str(file))}: {reason}"):
        mlir_fp8.compile(program([case(KN, 64, 64, 64, F32)]))


def test_a_file_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(Fp8Error, match="none: cannot be read"):
        mlir_fp8.compile(program([case(KN, 64, 64, 64, F32)]))
