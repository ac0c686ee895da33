"""Functions of f32, elementwise, on one thread, with their largest errors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.cases import OURS, Case, Check, Contender, WrongValueError
from benchmarks.engines import engines
from benchmarks.plan import Plan

COUNT, QUICK_COUNT = 1 << 16, 1 << 10
"""Numbers that fit the cache."""
MOST = 0.51
"""ULP that ours may be off; the errors of others are noted."""
ERROR = "ULP at most"
Function = Callable[[np.ndarray], np.ndarray]
FUNCTIONS: dict[str, tuple[str, Function, bool, tuple[float, float]]] = {
    "exp": ("stablehlo.exponential", np.exp, True, (-80, 80)),
    "expm1": ("stablehlo.exponential_minus_one", np.expm1, True, (-10, 10)),
    "log": ("stablehlo.log", np.log, True, (1e-6, 1e6)),
    "log1p": ("stablehlo.log_plus_one", np.log1p, True, (-0.99, 100)),
    "logistic": ("stablehlo.logistic", lambda x: 1 / (1 + np.exp(-x)), False, (-80, 80)),
    "tanh": ("stablehlo.tanh", np.tanh, True, (-5, 5)),
    "sin": ("stablehlo.sine", np.sin, True, (-100, 100)),
    "cos": ("stablehlo.cosine", np.cos, True, (-100, 100)),
    "tan": ("stablehlo.tan", np.tan, True, (-100, 100)),
    "cbrt": ("stablehlo.cbrt", np.cbrt, True, (-100, 100)),
    "rsqrt": ("stablehlo.rsqrt", lambda x: 1 / np.sqrt(x), True, (1e-6, 1e6)),
    "asin": ("chlo.asin", np.arcsin, True, (-1, 1)),
    "acos": ("chlo.acos", np.arccos, True, (-1, 1)),
    "atan": ("chlo.atan", np.arctan, True, (-10, 10)),
    "sinh": ("chlo.sinh", np.sinh, True, (-80, 80)),
    "cosh": ("chlo.cosh", np.cosh, True, (-80, 80)),
    "asinh": ("chlo.asinh", np.arcsinh, True, (-100, 100)),
    "acosh": ("chlo.acosh", np.arccosh, True, (1, 100)),
    "atanh": ("chlo.atanh", np.arctanh, True, (-0.99, 0.99)),
}
"""By name: the op, numpy's function, whether numpy is a contender, and the interval."""


def cases(plan: Plan) -> Iterator[Case]:
    count = QUICK_COUNT if plan.quick else COUNT
    for name in list(FUNCTIONS)[:2] if plan.quick else FUNCTIONS:
        yield _case(name, count, replace(plan, threads=(1,)))


def _case(name: str, count: int, plan: Plan) -> Case:
    op, function, is_numpys, interval = FUNCTIONS[name]
    x = np.random.default_rng(0).uniform(*interval, count).astype(np.float32)
    exact = function(x.astype(np.float64))
    contenders = [
        engine.contender(_text(op, count), [x], _error(exact, engine.name == OURS))
        for engine in engines(plan)
    ]
    if is_numpys and "numpy" in plan.peers:
        check = _error(exact, False)
        contenders.append(Contender("numpy", lambda: function(x), lambda got: check([got])))
    return Case(name, tuple(contenders), work=count, unit="elem")


def _text(op: str, count: int) -> str:
    type_ = f"tensor<{count}xf32>"
    return (
        f"func.func @main(%x: {type_}) -> {type_} {{\n"
        f'%y = "{op}"(%x) : ({type_}) -> {type_}\nreturn %y : {type_}\n}}'
    )


def _error(exact: np.ndarray, is_ours: bool) -> Check:
    """The largest, in units of the last place that f32 has there."""
    place = np.spacing(np.abs(exact.astype(np.float32)))

    def check(got: Sequence[np.ndarray]) -> Mapping[str, float]:
        error = float(np.max(np.abs(got[0].astype(np.float64) - exact) / place))
        if is_ours and not error <= MOST:
            raise WrongValueError(f"off by {error:.3g} ULP, over {MOST}")
        return {ERROR: error}

    return check
