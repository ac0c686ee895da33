"""fp8-canonicalize-for-xla-gpu: the same bits, and every dot an FP8 call by XLA's own rules."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from kernel_products import without_tiles
from numpy.typing import NDArray
from scaled_programs import MATRICES, Program, module_text, sample
from torch_mlir import ir
from xla_gpu_cases import AB, BF16, CASES, E4, IN_BF16, IN_F32, ODD, OUTER, dims
from xla_gpu_matcher import Verdict, fp8_convolutions, verdicts

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.execution import CompiledModule
from mlir_fp8.passes.pass_pipeline import run_pipeline

HERE = Path(__file__).parents[1]
PATTERNS = sorted((HERE / "patterns").glob("*.mlir"))
MODELS = HERE.parent / "models"
REASSOCIATED = "allow-reassociation=true"
EPILOGUE_IN_F32 = "allow-reassociation=true allow-excess-precision=true"
# What the program says is not what cuBLASLt does, which saturates: it stays outside.
UNCLAMPED = "p01_raw_f8_dot"


def canonical(module: ir.Module, options: str = "") -> ir.Module:
    run_pipeline(module, f"builtin.module(fp8-canonicalize-for-xla-gpu{{{options}}})")
    return module


def described(verdict: Verdict) -> str:
    """What is one call with the dot, in the words of the cases."""
    if verdict.gemm is None:
        return f"REJECT {verdict.reason}"
    names = [each.removesuffix(" bias") for each in verdict.gemm.fused]
    return " ".join([*names, *(["amax"] if verdict.gemm.has_amax else [])])


@pytest.mark.parametrize("file", PATTERNS, ids=lambda file: file.stem)
def test_the_oracle_knows_what_a_gpu_did(file: Path) -> None:
    """The comments in the patterns are what was seen on a Hopper GPU."""
    (verdict,) = verdicts(mlir_fp8.load(file))
    seen = file.read_text().split("XLA:GPU: ")[1]
    assert seen.startswith(verdict.kind), verdict.reason


def test_the_oracle_loses_converted_scales() -> None:
    """As XLA does with JAX's `x.astype(bf16) * s.astype(bf16)`, of which the models are full."""
    module = mlir_fp8.load(MODELS / "transformer_train_step.mlir")
    matched = [each for each in verdicts(module) if each.gemm is not None]
    assert not matched


@pytest.fixture(scope="module")
def computed(exhaustive: bool) -> list[Program]:
    """The cases whose numbers are compared."""
    return [case.program for case in (CASES if exhaustive else CASES[::4])]


@pytest.fixture(scope="module")
def compiled_cases(computed: list[Program]) -> list[CompiledModule]:
    """In one module, as they are and after the pass."""
    module = mlir_fp8.load(module_text(computed))
    with without_tiles():
        return [mlir_fp8.compile(module), mlir_fp8.compile(canonical(module))]


def codes(array: NDArray[np.generic]) -> list[object]:
    """The bits of each number, so that zeros have signs; NaN for each NaN, whichever it is."""
    bits = array.reshape(-1).view(f"u{array.itemsize}").tolist()
    is_nan = np.isnan(array.reshape(-1).astype(np.float64)).tolist()
    return ["NaN" if nan else code for code, nan in zip(bits, is_nan, strict=True)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("special", [None, 0.0, -0.0, np.inf, -np.inf, np.nan], ids=str)
def test_same_bits(
    special: float | None, computed: list[Program], compiled_cases: list[CompiledModule]
) -> None:
    arguments = sample(computed)
    if special is not None:  # a scale, and some element of every tensor
        for array in arguments:
            array.reshape(-1)[array.size // 3] = special
    want, got = (compiled(*arguments) for compiled in compiled_cases)
    assert [codes(each) for each in got] == [codes(each) for each in want]


def test_other_judges_take_the_forms(computed: list[Program]) -> None:
    other = "xla" if find_spec("jax") else "interpreter"
    module = canonical(mlir_fp8.load(module_text(computed)))
    run_pipeline(module, ["func.func(chlo-legalize-to-stablehlo)"])  # the interpreter has no erfc
    verdict = mlir_fp8.compare(module, *sample(computed), judges=("llvm", other))
    assert verdict.is_comparison
    # The interpreter rounds sums of bf16 and f16 at each step.
    limit = 1e-2 if other == "xla" else 0.5
    assert [each.index for each in verdict.agreements if not each.relative <= limit] == []


def test_every_dot_is_an_fp8_call() -> None:
    module = canonical(mlir_fp8.load(module_text([case.program for case in CASES])))
    found = dict(zip([case.program.name for case in CASES], verdicts(module), strict=True))
    assert {name: described(verdict) for name, verdict in found.items()} == {
        case.program.name: case.fused for case in CASES
    }
    left = {name: each.reason.split()[:1] for name, each in found.items() if each.gemm is not None}
    assert left == {case.program.name: case.left.split() for case in CASES if case.fused != OUTER}


CONVERTED = Program(
    "converted",
    ODD | {"a_scale": "f32", "b_scale": "f32", "bias": "27xbf16", "d_scale": "bf16"},
    [f"34x27x{E4}"],
    f"{IN_BF16}, saturate",
)
PLAIN = Program("plain", AB | {"a_scale": "f32", "b_scale": "f32"}, ["64x32xf32"],
                "operand_type = bf16, b_inverse")  # fmt: skip
BY_ROW = Program("by row", AB | {"a_scale": "64x1xf32", "b_scale": "f32"}, ["64x32xf32"], IN_F32)
TWO_SCALES = Program("two scales", AB | {"a_scale": "f32", "b_scale": "bf16"}, ["64x32xf32"])


@pytest.mark.parametrize("program", [CONVERTED, PLAIN, BY_ROW], ids=lambda each: each.name)
def test_what_rounds_elsewhere_is_refused(program: Program) -> None:
    module = mlir_fp8.load(module_text([program]))
    with pytest.raises(Fp8Error, match="or give allow-reassociation to scale the sum instead"):
        canonical(module)


@pytest.mark.parametrize(
    ("program", "options", "fused", "left"),
    [
        (CONVERTED, REASSOCIATED, "a_scale", ""),
        (CONVERTED, EPILOGUE_IN_F32, "a_scale bias quantize", ""),
        (PLAIN, REASSOCIATED, "a_scale", ""),
        (BY_ROW, REASSOCIATED, "", "multiply stays outside"),
        (TWO_SCALES, "", "a_scale", "multiply stays outside"),
        (TWO_SCALES, REASSOCIATED, "a_scale", ""),
    ],
)
def test_calls_with_options(program: Program, options: str, fused: str, left: str) -> None:
    module = canonical(mlir_fp8.load(module_text([program])), options)
    (verdict,) = verdicts(module)
    assert (described(verdict), verdict.reason) == (fused, left)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", [PLAIN, BY_ROW, TWO_SCALES], ids=lambda each: each.name)
def test_reassociated_results_are_within_the_bound(program: Program) -> None:
    """docs/xla_gpu.md: |difference| <= ((1 + u)^2 - 1 + (K + 4) 2^-23) sum |a b|."""
    module = mlir_fp8.load(module_text([program]))
    arguments = sample([program])
    (want,) = mlir_fp8.compile(module)(*arguments)
    (got,) = mlir_fp8.compile(canonical(module, REASSOCIATED))(*arguments)
    a, b, a_scale, b_scale = (np.asarray(each, np.float64) for each in arguments)
    scale = a_scale * (1 / b_scale if "b_inverse" in program.attributes else b_scale)
    total = (np.abs(a) @ np.abs(b)) * scale
    unit = 2.0**-8 if "bf16" in program.attributes else 2.0**-24
    bound = ((1 + unit) ** 2 - 1 + (a.shape[1] + 4) * 2.0**-23) * total
    assert np.all(np.abs(got.astype(np.float64) - want) <= bound * (1 + unit) ** 2)
    assert np.any(got != want)


def test_an_epilogue_in_f32_is_nearer_to_the_exact_one() -> None:
    module = mlir_fp8.load(module_text([CONVERTED]))
    arguments = sample([CONVERTED])
    (want,) = mlir_fp8.compile(module)(*arguments)
    (got,) = mlir_fp8.compile(canonical(module, EPILOGUE_IN_F32))(*arguments)
    a, b, a_scale, b_scale, bias, d_scale = (np.asarray(each, np.float64) for each in arguments)
    exact = ((a @ b) * a_scale * b_scale + bias) / d_scale
    far = [np.abs(each.astype(np.float64) - exact).sum() for each in (got, want)]
    assert far[0] < far[1]


def refused(
    operands: dict[str, str],
    attributes: str = "",
    where: str = "",
    platform: str = "cuda",
    options: str = "",
) -> str:
    result = "64x32xf32" if not where else "70000xf32"
    program = Program("refused", operands, [result], attributes, where or MATRICES)
    with pytest.raises(Fp8Error) as caught:
        canonical(mlir_fp8.load(module_text([program])), f"platform={platform} {options}")
    return str(caught.value).partition("'fp8.scaled_dot' ")[2]


def test_refusals() -> None:
    fnuz = {"a": "64x128xf8E4M3FNUZ", "b": "128x32xf8E4M3FNUZ"}
    assert refused(fnuz).startswith("multiplies f8E4M3FNUZ by f8E4M3FNUZ: XLA:GPU on cuda")
    assert refused({"a": "64x128xf8E3M4", "b": "128x32xf8E5M2"}).startswith("multiplies f8E3M4 by")
    blocks = AB | {"a_scale": "64x4xf32"}
    assert "differs within a sum" in refused(blocks, IN_F32)
    # Also where the other scale could go behind the sum.
    both = AB | {"a_scale": "bf16", "b_scale": "4x32xf32"}
    assert "differs within a sum" in refused(both, IN_F32, options=REASSOCIATED)
    batches = {"a": f"70000x4x{E4}", "b": f"70000x4x{E4}"}
    assert refused(batches, where=dims("1", "1", ("0", "0"))).startswith("has 70000 batches")
    with pytest.raises(Fp8Error, match="option 'platform' is one of cuda, rocm, not 'tpu'"):
        canonical(mlir_fp8.load("func.func @main() { return }"), "platform=tpu")


@pytest.mark.parametrize("name", ["f8E5M2", "f8E5M2FNUZ"])
def test_two_e5m2_stay_a_dot(name: str) -> None:
    operands = {"a": f"64x128x{name}", "b": f"128x32x{name}"}
    module = mlir_fp8.load(module_text([Program("two", operands, ["64x32xf32"], "", MATRICES)]))
    (verdict,) = verdicts(canonical(module, "platform=rocm"), "rocm")
    assert verdict.kind == "REJECT"


def test_fnuz_on_rocm() -> None:
    fnuz = {"a": "64x128xf8E4M3FNUZ", "b": "128x32xf8E5M2FNUZ"}
    module = mlir_fp8.load(module_text([Program("fnuz", fnuz | BF16, ["64x32xbf16"], IN_BF16)]))
    (verdict,) = verdicts(canonical(module, "platform=rocm"), "rocm")
    assert verdict.kind == "MATCH"


@pytest.mark.parametrize("file", PATTERNS, ids=lambda file: file.stem)
def test_fused_patterns(file: Path) -> None:
    module = mlir_fp8.load(file)
    run_pipeline(module, "builtin.module(fp8-fuse-scaled-dot)")
    platform = "rocm" if "FNUZ" in file.read_text() else "cuda"
    canonical(module, f"{REASSOCIATED} platform={platform}")
    (verdict,) = verdicts(module, platform)
    if file.stem.startswith("p"):
        assert verdict.kind == ("PARTIAL" if file.stem == UNCLAMPED else "MATCH")
    elif file.stem == "r01_e5m2_e5m2":
        assert verdict.kind == "REJECT"
    else:
        assert verdict.gemm is not None


@pytest.mark.parametrize(
    ("name", "dots", "distance"),
    [  # as far as bf16 sums are from f32 ones, which f8 roundings behind them spread
        ("mlp_delayed_scaling", 2, 1e-6),
        ("transformer_forward", 5, 0.08),
        pytest.param("transformer_train_step", 15, 0.005, marks=pytest.mark.exhaustive),
    ],
)
def test_models(name: str, dots: int, distance: float) -> None:
    module = mlir_fp8.load(MODELS / f"{name}.mlirbc")
    run_pipeline(module, "builtin.module(fp8-fuse-scaled-dot)")
    assert str(module).count('"fp8.scaled_dot"') == dots
    canonical(module, REASSOCIATED)
    assert len([each for each in verdicts(module) if each.gemm is not None]) == dots
    given = [array for _, array in restored(np.load(MODELS / f"{name}.in.npz"))]
    wanted = [array for _, array in restored(np.load(MODELS / f"{name}.out.npz"))]
    got, want = (
        np.concatenate([np.float64(each).reshape(-1) for each in arrays])
        for arrays in (mlir_fp8.compile(module)(*given), wanted)
    )
    assert np.linalg.norm(got - want) <= distance * np.linalg.norm(want)


CONVOLUTION = """
func.func @main(%a: tensor<1x8x8x16xf8E4M3FN>, %b: tensor<3x3x16x32xf8E4M3FN>, %sa: tensor<SCALE>)
    -> tensor<1x6x6x32xbf16> {
  %0 = "fp8.scaled_convolution"(%a, %b, %sa) {
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64, TYPES
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}
    : (tensor<1x8x8x16xf8E4M3FN>, tensor<3x3x16x32xf8E4M3FN>, tensor<SCALE>)
    -> tensor<1x6x6x32xbf16>
  return %0 : tensor<1x6x6x32xbf16>
}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("types", [f"{IN_BF16},", "operand_type = f32,", ""])
def test_convolutions(types: str) -> None:
    module = mlir_fp8.load(CONVOLUTION.replace("SCALE", "f32").replace("TYPES", types))
    random = np.random.default_rng(0)
    dtype = mlir_fp8.compile(module).arguments[0].dtype
    a = random.standard_normal((1, 8, 8, 16)).astype(dtype)
    b = random.standard_normal((3, 3, 16, 32)).astype(dtype)
    scale = np.float32(0.37)
    want = mlir_fp8.compile(module)(a, b, scale)
    got = mlir_fp8.compile(canonical(module))(a, b, scale)
    assert [codes(each) for each in got] == [codes(each) for each in want]
    assert fp8_convolutions(module) == [True]


def test_convolutions_refused() -> None:
    text = CONVOLUTION.replace("TYPES", f"{IN_BF16},")
    with pytest.raises(Fp8Error, match="number for the whole tensor: scale per tensor"):
        canonical(mlir_fp8.load(text.replace("SCALE", "1x1x1x16xf32")), REASSOCIATED)
    with pytest.raises(Fp8Error, match="XLA has FP8 ones on cuda alone"):
        canonical(mlir_fp8.load(text.replace("SCALE", "f32")), "platform=rocm")
