"""HLO that XLA:GPU has optimized: which calls and fusions its products became.

Names are those of XLA's gemm_rewriter.cc, cudnn_fused_conv_rewriter.cc and ir_emission_utils.h;
operands of a GEMM are A, B, then C where beta is not 0, then scales and a bias.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.explaining.hlo_instructions import (
    Computation,
    Instruction,
    computations,
    is_whole,
)
from mlir_fp8.explaining.verdicts import (
    FUSED,
    NOT_FP8,
    NOT_FUSED,
    Answer,
    Explanation,
    Hindrance,
    Row,
)

TARGET = "xla-gpu"
_OPTIMIZED = re.compile(r'\bfusion\(|custom_call_target="(?:__cublas|__cudnn\$conv)')
LIBRARY_CALLS = ("__cublas$", "__cudnn$conv")
_SCALAR = re.compile(r"\w+\[\]|tensor<[^x<>]*>")
_PRODUCTS = ("dot", "convolution", "scaled-dot", "ragged-dot")
# What leaves a number as it is, or scales it: behind these an operand still comes from FP8.
# fmt: off
_TRANSPARENT = frozenset((
    "bitcast", "bitcast-convert", "broadcast", "convert", "copy", "divide", "dynamic-slice",
    "get-tuple-element", "multiply", "pad", "reshape", "reverse", "select", "slice", "transpose",
))
# fmt: on


def is_optimized(text: str) -> bool:
    """Whether HLO text holds what only XLA:GPU's passes write: calls of libraries, or fusions."""
    return _OPTIMIZED.search(text) is not None


def explain_optimized(text: str, name: str) -> Explanation:
    """A row for each product of optimized HLO text, whose target can only be `xla-gpu`.

    Places are lines of the text; callers are the source lines that its metadata names. Raises
    `Fp8Error` for a text that was cut off.
    """
    if not is_whole(text):
        raise Fp8Error(f"{name}: HLO was cut off: the end of its entry computation is missing")
    found = {each.name: each for each in computations(text)}
    hidden = set(_inside_products(found))
    rows = [
        row
        for computation in found.values()
        if computation.name not in hidden
        for instruction in computation.instructions.values()
        if (row := _row(instruction, computation, found, name)) is not None
    ]
    return Explanation(name, "the GPU it was compiled for", (TARGET,), tuple(rows))


def details_of_gemm(config: Mapping[str, Any], operands: Sequence[str]) -> str:
    """What a call does beside the product, by its configuration and its operands' types."""
    gemm: Mapping[str, Any] = config.get("gemm_backend_config", config)
    rest = list(operands[2:])
    parts: list[str] = []
    if gemm.get("beta") and rest:
        parts.append(f"adds {rest.pop(0)}")
    scales = [each for each in rest if _SCALAR.fullmatch(each)]
    parts += [f"scales {', '.join(scales)}"] if scales else []
    parts += [f"bias {each}" for each in rest if each not in scales]
    parts += [
        f"{key.removesuffix('_real')} {gemm[key]}" for key in ("alpha_real", "beta") if key in gemm
    ]
    parts += [f"epilogue {gemm['epilogue']}"] if "epilogue" in gemm else []
    precision = gemm.get("precision_config", {}).get("operand_precision", ())
    parts += [f"precision {', '.join(precision)}"] if precision else []
    parts += ["amax of the result"] if gemm.get("damax_output") else []
    return "; ".join(parts)


def _inside_products(found: Mapping[str, Computation]) -> Iterator[str]:
    """The computations of fusions that are rows themselves, and what these call."""
    for computation in found.values():
        for instruction in computation.instructions.values():
            if _product_inside(instruction, found) is None:
                continue
            left = [instruction.attributes["calls"]]
            while left:
                name = left.pop()
                yield name
                inner = found[name].instructions.values() if name in found else ()
                left += [each.attributes["calls"] for each in inner if "calls" in each.attributes]


def _product_inside(
    instruction: Instruction, found: Mapping[str, Computation]
) -> tuple[Instruction, Computation] | None:
    """The product that a fusion of a kernel of its own computes (Triton, cuDNN, CUTLASS)."""
    if instruction.opcode != "fusion" or instruction.attributes.get("kind") != "kCustom":
        return None
    body = found.get(instruction.attributes.get("calls", ""))
    for each in body.instructions.values() if body else ():
        if body is not None and each.opcode in _PRODUCTS:
            return each, body
        inner = _product_inside(each, found) if each.opcode == "fusion" else None
        if inner is not None:
            return inner
    return None


def _row(
    instruction: Instruction,
    computation: Computation,
    found: Mapping[str, Computation],
    name: str,
) -> Row | None:
    target = instruction.attributes.get("custom_call_target", "")
    product, home = instruction, computation
    if target.startswith(LIBRARY_CALLS):
        op = target
    elif instruction.opcode in _PRODUCTS:
        op = instruction.opcode
    else:
        inside = _product_inside(instruction, found)
        if inside is None:
            return None
        product, home = inside
        fusion = instruction.config.get("fusion_backend_config", instruction.config)
        op = f"{fusion.get('kind', 'fusion')} {product.opcode}"
    operands = [_type(home, each) for each in product.operands]
    details = details_of_gemm(product.config, operands) if product.config else ""
    place = f"{name}:{instruction.line}:{instruction.column}"
    return Row(
        op,
        place,
        tuple(places_of(product)) or tuple(places_of(instruction)),
        f"({', '.join(operands[:2])})",
        instruction.types[0],
        (_answer(op, product, home, operands, place),),
        details,
        scope=product.attributes["op_name"] or instruction.attributes["op_name"],
    )


def _answer(
    op: str, product: Instruction, home: Computation, operands: Sequence[str], place: str
) -> Answer:
    if op in _PRODUCTS and all(each.startswith("f8") for each in operands[:2]):
        loop = Hindrance(
            "compiled-as-loop",
            "dot",
            "no call of a library, nor a kernel of its own: a loop computes it",
            place,
            "explain the module before XLA's passes: it shows what hinders FP8",
        )
        return Answer(TARGET, NOT_FUSED, (loop,))
    if op.endswith("$f8") or all(each.startswith("f8") for each in operands[:2]):
        return Answer(TARGET, FUSED, ())
    sides = zip(product.operands[:2], ("lhs", "rhs"), strict=False)
    hindrances = tuple(
        Hindrance(
            "compiled-wide",
            part,
            f"the operand comes from {wide[0]} and is {wide[1]} in the product",
            place,
            "explain the module before XLA's passes: it shows what hinders FP8",
        )
        for each, part in sides
        if (wide := _widened(home, each)) is not None
    )
    return Answer(TARGET, NOT_FUSED if hindrances else NOT_FP8, hindrances)


def _widened(home: Computation, name: str) -> tuple[str, str] | None:
    """The FP8 type that an operand comes from, and its own; None if it comes from none."""
    own = _type(home, name).partition("[")[0]
    left, seen = [name], set[str]()
    while left:
        each = left.pop()
        instruction = home.instructions.get(each)
        if instruction is None or each in seen:
            continue
        seen.add(each)
        element = _type(home, each).partition("[")[0]
        if element.startswith("f8"):
            return element, own
        # A fusion takes what it is made of as operands.
        if instruction.opcode in _TRANSPARENT | {"fusion"}:
            left += instruction.operands
    return None


def _type(home: Computation, name: str) -> str:
    instruction = home.instructions.get(name)
    return instruction.types[0] if instruction and instruction.types else "?"


def places_of(instruction: Instruction) -> Iterator[str]:
    """The source place in an instruction's metadata, if there is one."""
    keys = ("source_file", "source_line", "source_column")
    file, line, column = (instruction.attributes.get(key) for key in keys)
    if file and line:
        yield f"{file}:{line}:{column}" if column and column != "0" else f"{file}:{line}"
