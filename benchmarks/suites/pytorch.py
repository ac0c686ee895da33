"""PyTorch: models and programs, forward and training, beside eager and `torch.compile`.

What is measured is a call; notes say how far it is off eager in relative L2 (the farthest of all
results and gradients) and the seconds of what comes before: `torch.export`, what makes StableHLO
of that ("import"), and the compiler. Inductor's are those of its first call.
"""

import copy
import gc
import os
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.cases import OURS, Case, Contender, WrongValueError, refusing
from benchmarks.peers import missing, module
from benchmarks.plan import Plan

if TYPE_CHECKING:
    from benchmarks.torch_programs.program import Program

ROUNDS = (3, 25)
EAGER, INDUCTOR = "eager", "inductor"
_FLOOR = 1e-3
"""Of the largest gradient's norm: smaller ones, which may be zero but for rounding, count as it."""


def cases(plan: Plan) -> Iterator[Case]:
    if missing(["torch"]):
        print("pytorch is skipped: torch not installed")
        return
    warnings.filterwarnings("ignore", category=FutureWarning)
    from benchmarks.torch_programs import programs

    for program in programs():
        if not _is_there(program):
            print(f"pytorch: {program.name} is skipped: {program.package} not installed")
            continue
        for trains in (False, True) if program.trains else (False,):
            yield _case(program, plan, trains=trains)
            module("torch._dynamo").reset()
            gc.collect()


def _is_there(program: "Program") -> bool:
    from importlib.util import find_spec

    return not program.package or find_spec(program.package) is not None


def _case(program: "Program", plan: Plan, *, trains: bool) -> Case:
    threads = plan.threads[-1]
    eager = Eager(program, plan, trains=trains)
    contenders = [_ours(eager, threads)]
    if "torch" in plan.peers:
        contenders.append(eager.contender(EAGER, threads))
    if "inductor" in plan.peers and not plan.quick:
        contenders.append(_inductor(eager, threads))
    name = f"{program.name}, training" if trains else program.name
    return Case(name, tuple(contenders), rounds=ROUNDS, starts_processes=True)


class Eager:
    """The program as PyTorch runs it, and what it gives."""

    def __init__(self, program: "Program", plan: Plan, *, trains: bool) -> None:
        from benchmarks.torch_programs.program import Loss

        made = program.make(plan.quick)
        self.name = program.name
        self.trains, self.tolerance = trains, program.tolerance
        self.model: Any = Loss(made.model) if trains else made.model
        self.inputs = {**made.inputs, **made.labels} if trains else made.inputs
        self.other: Any = copy.deepcopy(self.model)
        """The model as it was before any call, which may change its state."""
        self.results, self.state = self._first()

    def _first(self) -> tuple[list[Any], list[Any]]:
        """Results, and gradients, or what the state has become where it has changed."""
        if not self.trains:
            versions = [each._version for each in self.model.state_dict().values()]
            results = _leaves(self.call())
            state = self.model.state_dict().values()
            changed = [each._version for each in state] != versions
            return results, [each.clone() for each in state] if changed else []
        loss = self.model(**self.inputs)
        loss.backward()
        for each, other in zip(self.model.parameters(), self.other.parameters(), strict=True):
            each.requires_grad_(each.grad is not None)  # what export asks of all that are left
            other.requires_grad_(each.grad is not None)
        return [loss.detach()], self.gradients(self.model)

    def gradients(self, model: Any) -> list[Any]:
        """Of all parameters, which are without any afterwards."""
        found = [each.grad for each in model.parameters() if each.requires_grad]
        model.zero_grad(set_to_none=True)
        return found

    def call(self, model: Any = None) -> Any:
        """Once: with gradients where it trains."""
        torch = module("torch")
        model = self.model if model is None else model
        with torch.set_grad_enabled(self.trains):
            given = model(**self.inputs)
        if self.trains:
            given.backward()
        return given

    def contender(self, name: str, threads: int, model: Any = None, notes: Any = None) -> Contender:
        """PyTorch's own, or of a `model` that it compiled."""
        from benchmarks.peers import torch_cpu

        run = torch_cpu.on_threads(threads, lambda: self._run(model))
        return Contender(name, run, lambda _: notes or {}, threads)

    def _run(self, model: Any) -> Any:
        given = self.call(model)
        self.model.zero_grad(set_to_none=True)
        return given

    def distance(self, results: Sequence[Any], state: Sequence[Any]) -> float:
        """The largest relative L2; raises `WrongValueError` where it is over the tolerance."""
        off = max(
            (_distance(*pair) for pair in zip(results, self.results, strict=True)), default=0.0
        )
        if self.state:
            least = _FLOOR * max(float(each.double().norm()) for each in self.state)
            off = max(
                off, *(_distance(*pair, least) for pair in zip(state, self.state, strict=True))
            )
        if not off <= self.tolerance:
            raise WrongValueError(f"{self.name} is off by {off:.2e}, over {self.tolerance:.0e}")
        return off


def _ours(eager: Eager, threads: int) -> Contender:
    from mlir_fp8 import Fp8Error

    try:
        return _exported(eager, threads)
    except Fp8Error as error:
        return refusing(OURS, threads, error)


def _exported(eager: Eager, threads: int) -> Contender:
    import mlir_fp8.torch

    torch = module("torch")
    torch.set_num_threads(threads)
    model = eager.other
    notes: dict[str, float] = {}
    with _Seconds(notes, "export s"), torch.set_grad_enabled(eager.trains):
        exported = torch.export.export(model, (), eager.inputs, strict=False)
        if eager.trains:
            experimental = module("torch.export.experimental")
            exported = experimental._export_forward_backward(exported)
    with _Seconds(notes, "import s"):
        ours = mlir_fp8.torch.export(exported, threads=threads, cache=False)
    with _Seconds(notes, "compile s"):
        ours.compile()

    def run() -> Any:
        given = ours(**eager.inputs)
        if eager.trains:
            model.zero_grad(set_to_none=True)
        return given

    given = ours(**eager.inputs)
    state = eager.gradients(model) if eager.trains else list(model.state_dict().values())
    notes["relative L2"] = eager.distance(_leaves(given), state if eager.state else [])
    return Contender(OURS, run, lambda _: notes, threads)


def _inductor(eager: Eager, threads: int) -> Contender:
    if shutil.which(os.environ.get("CXX", "g++")) is None:
        return refusing(INDUCTOR, threads, "no C++ compiler")
    torch = module("torch")
    torch.set_num_threads(threads)
    notes: dict[str, float] = {}
    compiled = torch.compile(eager.model)
    try:
        with _Seconds(notes, "compile s"):
            eager._run(compiled)
    except Exception as error:
        return refusing(INDUCTOR, threads, error)
    return eager.contender(INDUCTOR, threads, compiled, notes)


class _Seconds:
    """Notes how long a block takes."""

    def __init__(self, notes: dict[str, float], name: str) -> None:
        self._notes, self._name = notes, name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._notes[self._name] = time.perf_counter() - self._started


def _leaves(given: Any) -> list[Any]:
    torch = module("torch")
    leaves = module("torch.utils._pytree").tree_leaves(given)
    return [each.detach() for each in leaves if isinstance(each, torch.Tensor)]


def _distance(got: Any, want: Any, least: float = 1e-30) -> float:
    if not want.is_floating_point():
        return 0.0 if bool((got == want).all()) else float("inf")
    exact = want.double()
    return float((got.double() - exact).norm()) / max(float(exact.norm()), least)
