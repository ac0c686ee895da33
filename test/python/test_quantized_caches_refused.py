"""What `quantize(cache=)` refuses, by name and place, with a way out."""

from typing import Any

import pytest

import mlir_fp8

HEAD = """func.func @main(%c: tensor<2x16x8xf32> {mlir_fp8.name = "k"}, %row: tensor<2x1x8xf32>,
    %at: tensor<i32>, %half: tensor<2x1x4xf32>, %q: tensor<2x8xf32>) -> """
CACHE, ROW, I32 = "tensor<2x16x8xf32>", "tensor<2x1x8xf32>", "tensor<i32>"
NEW = f"""%new = stablehlo.dynamic_update_slice %c, %row, %z, %at, %z
  : ({CACHE}, {ROW}, {I32}, {I32}, {I32}) -> {CACHE}"""
LOOP = f"""%l:2 = stablehlo.while(%i = %z, %d = %c) : {I32}, {CACHE}
cond {{
  CONDITION
}} do {{
  stablehlo.return %i, %row_or_c : {I32}, {CACHE}
}}"""
GO = f"%b = stablehlo.compare LT, %i, %z : ({I32}, {I32}) -> tensor<i1>\n"
GO += "stablehlo.return %b : tensor<i1>"

CASES = {
    "is 0 of the results: give it back once": (f"({ROW})", NEW, f"%row : {ROW}"),
    "is 2 of the results: give it back once": (
        f"({CACHE}, {CACHE})",
        NEW,
        f"%new, %new : {CACHE}, {CACHE}",
    ),
    "'stablehlo.add' reads cache 'k', and is no dot: read it by dots": (
        f"({CACHE})",
        f"{NEW}\n%s = stablehlo.add %new, %new : {CACHE}",
        f"%new : {CACHE}",
    ),
    "'stablehlo.concatenate' reads cache 'k'": (
        "(tensor<2x17x8xf32>)",
        f"%s = stablehlo.concatenate %c, %row, dim = 1 : ({CACHE}, {ROW}) -> tensor<2x17x8xf32>",
        "%s : tensor<2x17x8xf32>",
    ),
    "'stablehlo.reshape' makes cache 'k' tensor<32x8xf32> for a result": (
        "(tensor<32x8xf32>)",
        f"{NEW}\n%s = stablehlo.reshape %new : ({CACHE}) -> tensor<32x8xf32>",
        "%s : tensor<32x8xf32>",
    ),
    "writes parts of what has one scale in cache 'k': write whole rows": (
        f"({CACHE})",
        f"""%new = stablehlo.dynamic_update_slice %c, %half, %z, %at, %z
  : ({CACHE}, tensor<2x1x4xf32>, {I32}, {I32}, {I32}) -> {CACHE}""",
        f"%new : {CACHE}",
    ),
    "'stablehlo.while' carries something else in the place of cache 'k'": (
        f"({CACHE})",
        "%row_or_c = stablehlo.constant dense<1.0> : tensor<2x16x8xf32>\n"
        + LOOP.replace("CONDITION", GO),
        f"%l#1 : {CACHE}",
    ),
    "'stablehlo.while' has a condition that reads cache 'k'": (
        f"({CACHE})",
        LOOP.replace("%row_or_c", "%e")
        .replace("CONDITION", f"%u = stablehlo.negate %d : {CACHE}\n{GO}")
        .replace("} do {", f"}} do {{\n%e = {NEW.partition(' = ')[2].replace('%c,', '%d,')}"),
        f"%l#1 : {CACHE}",
    ),
    "'stablehlo.if' gives cache 'k' out of its region: write it outside": (
        f"({CACHE})",
        f"""%p = stablehlo.compare LT, %at, %z : ({I32}, {I32}) -> tensor<i1>
%s = "stablehlo.if"(%p) ({{
  {NEW}
  stablehlo.return %new : {CACHE}
}}, {{
  stablehlo.return %c : {CACHE}
}}) : (tensor<i1>) -> {CACHE}""",
        f"%s : {CACHE}",
    ),
}


@pytest.mark.parametrize("message", CASES)
def test_refused(message: str) -> None:
    results, body, end = CASES[message]
    zero = f"%z = stablehlo.constant dense<0> : {I32}"
    text = f"{HEAD}{results} {{\n{zero}\n{body}\nreturn {end}\n}}"
    with pytest.raises(mlir_fp8.Fp8Error) as raised:
        mlir_fp8.quantize(text, cache=["k"])
    assert message in str(raised.value)
    assert str(raised.value).startswith("-:") or "func.func" in str(raised.value)
    assert "out of cache" in str(raised.value) or "give it back" in str(raised.value)


def test_names_and_options() -> None:
    text = f"{HEAD}({CACHE}) {{\nreturn %c : {CACHE}\n}}"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"cache": ["v"]}, "has no argument 'v' (arguments: k, arg1, arg2, arg3, arg4)"),
        ({"cache": ["k"], "cache_scales": "row"}, "'row' is no layout of a cache's scales"),
        ({"cache": ["k"], "recipe": "current"}, "caches are named, and no weights"),
        ({"cache": ["k"], "ops": ["stablehlo.add"]}, "caches are named, and no weights"),
        ({"cache": ["arg2"]}, "cache 'arg2' is tensor<i32>, not of f32, bf16 or f16"),
    ]
    for options, message in cases:
        with pytest.raises(mlir_fp8.Fp8Error) as raised:
            mlir_fp8.quantize(text, **options)
        assert message in str(raised.value)
    delayed = mlir_fp8.quantize(
        f"{HEAD}({CACHE}, tensor<2x2xf32>) {{\n%y = stablehlo.dot_general %q, %q, contracting_dims"
        f" = [1] x [1] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>\n"
        f"return %c, %y : {CACHE}, tensor<2x2xf32>\n}}"
    )
    with pytest.raises(mlir_fp8.Fp8Error, match="has the state of delayed scaling"):
        mlir_fp8.quantize(delayed.module, cache=["k"])
    made = mlir_fp8.quantize(text, cache=["k"])
    with pytest.raises(mlir_fp8.Fp8Error, match="not of f32, bf16 or f16"):
        mlir_fp8.quantize(made.module, cache=["k"])


def test_two_arguments_of_one_name() -> None:
    text = f"{HEAD}({CACHE}) {{\nreturn %c : {CACHE}\n}}"
    text = text.replace("%q: tensor<2x8xf32>", '%q: tensor<2x8xf32> {mlir_fp8.name = "k"}')
    with pytest.raises(mlir_fp8.Fp8Error, match="has 2 arguments 'k': rename one of them"):
        mlir_fp8.quantize(text, cache=["k"])
