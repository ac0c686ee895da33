"""Programs of one call of LAPACK."""

import re
from collections.abc import Sequence


def call_of(
    target: str,
    operands: Sequence[str],
    results: Sequence[str],
    options: str = "",
    layouts: tuple[Sequence[str], Sequence[str]] | None = None,
) -> str:
    """A call of `target` on arguments of the types `operands`; JAX's layouts, or `layouts`."""
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    arguments = ", ".join(f"%a{i}: tensor<{type_}>" for i, type_ in enumerate(operands))
    takes = ", ".join(f"tensor<{type_}>" for type_ in operands)
    gives = ", ".join(f"tensor<{type_}>" for type_ in results)
    given = layouts or (list(map(_layout, operands)), list(map(_layout, results)))
    sides = ", ".join(
        f"{side}_layouts = [{', '.join(each)}]"
        for side, each in zip(("operand", "result"), given, strict=True)
    )
    returned = ", ".join(f"%0#{i}" for i in range(len(results))) if len(results) > 1 else "%0"
    count = f":{len(results)}" if len(results) > 1 else ""
    return f"""func.func @main({arguments}) -> ({gives}) {{
      %0{count} = stablehlo.custom_call @lapack_{target}_ffi({names})
        {{mhlo.backend_config = {{{options}}}, {sides}}} : ({takes}) -> ({gives})
      return {returned} : {gives}
    }}"""


def _layout(type_: str) -> str:
    """Matrices column by column, the rest row by row."""
    rank = len(re.findall(r"\d+x", type_))
    dims = list(range(rank))[::-1]
    if rank > 1:
        dims[:2] = dims[1], dims[0]
    return f"dense<{dims if rank else '[]'}> : tensor<{rank}xindex>".replace("<[]>", "<>")


def lu(dtype: str = "f64", sizes: str = "2x2", pivots: str = "2", **more: object) -> str:
    letter = {"f32": "s", "f64": "d"}[dtype]
    batch = sizes.count("x") - 1
    info = "x".join([*sizes.split("x")[:batch], "i32"])
    return call_of(
        f"{letter}getrf", [f"{sizes}x{dtype}"], [f"{sizes}x{dtype}", f"{pivots}xi32", info],
        **more,  # pyright: ignore[reportArgumentType]
    )  # fmt: skip


def cholesky(size: int = 2, uplo: str = "L") -> str:
    return call_of(
        "dpotrf", [f"{size}x{size}xf64"], [f"{size}x{size}xf64", "i32"], f"uplo = {ord(uplo)} : ui8"
    )
