"""Textual pipelines: how they are split, expanded and refused; what a failing pass raises."""

import dataclasses

import pytest
from torch_mlir import ir

from mlir_fp8 import lowering
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.passes import pass_manager
from mlir_fp8.passes.pass_manager import build_pass_manager
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.passes.pipeline_text import parse_element, parse_elements, parse_options
from mlir_fp8.pipelines import PIPELINES

MODULE = "func.func @main(%arg0: f32) -> f32 {\n  return %arg0 : f32\n}\n"

PIPELINE_TEXTS = [
    ("builtin.module()", "builtin.module()"),
    ("builtin.module(cse)", "builtin.module(cse)"),
    ("any(cse)", "any(cse)"),
    ("  builtin.module(\n  cse,\n  symbol-dce\n)\n", "builtin.module(cse,symbol-dce)"),
    (
        "builtin.module(func.func(cse,symbol-dce),builtin.module(cse))",
        "builtin.module(func.func(cse,symbol-dce),builtin.module(cse))",
    ),
    (
        "builtin.module(cse,convert-small-floats-to-int{saturate=true},symbol-dce)",
        "builtin.module(cse,convert-small-floats-to-int{saturate=true},symbol-dce)",
    ),
    (
        "builtin.module(lower-to-stablehlo-pipeline)",
        "builtin.module(hlo-legalize-to-stablehlo,arith-constant-to-stablehlo,fp8-legalize-to-stablehlo,"
        "chlo-broadcast-select-expander,func.func(chlo-legalize-to-stablehlo))",
    ),
    ([], "builtin.module()"),
    (["cse", "symbol-dce"], "builtin.module(cse,symbol-dce)"),
    (["cse,symbol-dce"], "builtin.module(cse,symbol-dce)"),
    (["chlo-legalize-to-stablehlo"], "builtin.module(func.func(chlo-legalize-to-stablehlo))"),
    (["func.func(cse)", "hlo-legalize-to-stablehlo"], None),
]

ERRORS = [
    ("", "the pipeline is empty"),
    ("cse,symbol-dce", "a pipeline names the op that it runs on: write 'builtin.module(cse,sy"),
    ("func.func(cse)", "a pipeline runs on builtin.module, not on func.func: write 'builtin.mod"),
    ("builtin.module(cse,,cse)", "pipeline 'cse,,cse' has an empty element"),
    ("builtin.module(cse,)", "pipeline 'cse,' has an empty element"),
    ("builtin.module(cse", "'(' at column 15 of pipeline 'builtin.module(cse' is never closed"),
    ("builtin.module(cse))", "unexpected ')' after 'builtin.module(cse)'"),
    ("builtin.module(inline{x='y)", "''' at column 25 of pipeline"),
    ("builtin.module(inline{x)}", "unmatched ')' at column 24 of pipeline"),
    ("builtin.module(cse cse)", "'cse cse' in a pipeline is not a pass name"),
    ("builtin.module({x=1})", "'{x=1}' in a pipeline is not a pass name"),
    (["cse)"], "unmatched ')' at column 4 of pipeline 'cse)'"),
    ("builtin.module(canonicalise)", "there is no pass or pipeline 'canonicalise'; did you mean"),
    ("builtin.module(func.func(cse,zzzzzz))", "there is no pass or pipeline 'zzzzzz'"),
    (
        "builtin.module(hlo-legalise-to-stablehlo)",
        "there is no pass or pipeline 'hlo-legalise-to-stablehlo'; did you mean 'hlo-legalize-",
    ),
    (
        "builtin.module(canonicalize{iterations=2})",
        "pass 'canonicalize' has no option 'iterations'; among its options are: cse-between-",
    ),
    ("builtin.module(cse{x})", "pass 'cse' has no option 'x'"),
    (
        "builtin.module(func.func(cse,canonicalize{max-iterations=few}))",
        "pass 'canonicalize': option 'max-iterations': 'few' value invalid",
    ),
    (
        "builtin.module(one-shot-bufferize{bufferize-function-boundaries=maybe})",
        "pass 'one-shot-bufferize': option 'bufferize-function-boundaries': 'maybe' is invalid",
    ),
    ("builtin.module(inline{op-pipelines=func.func(zz)})", "MLIR refuses the options of 'inline{"),
    ("builtin.module(sparsifier{zz=1})", "pass 'sparsifier' has no option 'zz'"),
    (
        "builtin.module(convert-small-floats-to-int{saturat})",
        "pass 'convert-small-floats-to-int' has no option 'saturat' (options: saturate)",
    ),
    (
        "builtin.module(convert-small-floats-to-int{saturate=yes})",
        "pass 'convert-small-floats-to-int': 'yes' is not a value of bool option 'saturate'",
    ),
    (
        "builtin.module(convert-small-floats-to-int{saturate saturate=1})",
        "pass 'convert-small-floats-to-int': option 'saturate' is given twice",
    ),
    ("builtin.module(lower-to-llvm-pipeline{x})", "pipeline 'lower-to-llvm-pipeline' has no opt"),
    (
        "builtin.module(chlo-legalize-to-stablehlo)",
        "pass 'chlo-legalize-to-stablehlo' runs on func.func, not on builtin.module: write 'func.",
    ),
    (
        "builtin.module(func.func(hlo-legalize-to-stablehlo))",
        "'hlo-legalize-to-stablehlo' runs on the whole builtin.module: it cannot stand inside 'fun",
    ),
    (
        "builtin.module(any(lower-to-llvm-pipeline))",
        "'lower-to-llvm-pipeline' runs on the whole builtin.module: it cannot stand inside 'any(.",
    ),
    (
        "builtin.module(func.func(scf.fore(cse)))",
        "'scf.fore(cse)' would never run: 'scf.fore' is no registered op",
    ),
]


@pytest.fixture
def context() -> ir.Context:
    return make_context()


@pytest.mark.parametrize(("pipeline", "expected"), PIPELINE_TEXTS)
def test_pipeline(pipeline: str | list[str], expected: str | None, context: ir.Context) -> None:
    wanted = expected or f"builtin.module({','.join(pipeline)})"
    assert str(build_pass_manager(pipeline, context)) == wanted


@pytest.mark.parametrize(("pipeline", "message"), ERRORS)
def test_refused_pipeline(
    pipeline: str | list[str],
    message: str,
    context: ir.Context,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(Fp8Error) as error:
        build_pass_manager(pipeline, context)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", PIPELINES)
def test_named_pipelines_are_sound(name: str, context: ir.Context) -> None:
    build_pass_manager(f"builtin.module({name})", context)


def test_element_syntax() -> None:
    elements = parse_elements("""a, b{x=1 y={p,q} z="),("}, func.func(c, d{e='}'})""")
    assert [element.name for element in elements] == ["a", "b", "func.func"]
    assert elements[1].options == 'x=1 y={p,q} z="),("'
    assert [(anchor, each.text) for anchor, each in elements[2].passes("m")] == [
        ("func.func", "c"),
        ("func.func", "d{e='}'}"),
    ]
    assert parse_elements(" ") == ()
    assert parse_element("a{}").options == ""


def test_option_syntax() -> None:
    text = """x  y=1 z="a b" w={1,2} e= q=p=2 m='n'"""
    assert parse_options("p", text) == {
        "x": None,
        "y": "1",
        "z": "a b",
        "w": "1,2",
        "e": "",
        "q": "p=2",
        "m": "n",
    }


@dataclasses.dataclass(frozen=True)
class Failing(ModulePass):
    """A pass that fails as `kind` says."""

    kind: str = "located"

    def run(self, module: ir.Operation) -> None:
        function = module.regions[0].blocks[0].operations[0]
        if self.kind == "located":
            raise Fp8Error("model.mlir:3:4: 'x.y' is refused: why")
        if self.kind == "unknown":
            raise Fp8Error("unknown: 'x.y' is refused")
        if self.kind == "invalid":
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
            return
        if self.kind == "verify":
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
            function.verify()
        raise ZeroDivisionError(self.kind)


@pytest.fixture
def failing_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lowering, pass_manager):
        monkeypatch.setattr(module, "pass_names", lambda: ["failing"])
        monkeypatch.setattr(module, "pass_class", lambda _: Failing)


@pytest.mark.usefixtures("failing_pass")
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("located", "model.mlir:3:4: 'x.y' is refused: why"),
        ("unknown", "a.mlir: 'x.y' is refused"),
        ("invalid", "a.mlir:1:1: 'func.func' op entry block must have 0 arguments"),
        ("verify", "a.mlir:1:1: 'func.func' op entry block must have 0 arguments"),
    ],
)
def test_failing_pass(kind: str, message: str, context: ir.Context) -> None:
    module = ir.Module.parse(MODULE, context)
    with pytest.raises(Fp8Error) as error:
        run_pipeline(module, ["cse", f"failing{{kind={kind}}}"], name="a.mlir")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("failing_pass")
def test_bug_in_a_pass_is_not_an_input_error(context: ir.Context) -> None:
    module = ir.Module.parse(MODULE, context)
    with pytest.raises(ZeroDivisionError):
        run_pipeline(module, ["failing{kind=bug}"])


@pytest.mark.usefixtures("failing_pass")
def test_verification_can_be_left_out(context: ir.Context) -> None:
    module = ir.Module.parse(MODULE, context)
    run_pipeline(module, ["failing{kind=invalid}"], verify_each=False)
    assert not _is_valid(module)


def _is_valid(module: ir.Module) -> bool:
    try:
        return module.operation.verify()
    except ir.MLIRError:
        return False
