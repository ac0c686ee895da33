"""Thousands of damaged artifacts, bytecode files and texts: each is answered, none kills.

Run `python test/exhaustive/damage.py`: 10,000 artifacts of five modules, a quarter as many bytecode
files and texts. Every mutant goes through `mlir_fp8.load` in a worker process, which must live: the
answer is a module, which then verifies and prints, or one line, within 5 seconds. Every fifth
module is serialized again, and every tenth mutant goes through `fp8-translate -o` too, which must
leave a whole file or none. `test_damage.py` runs a slice of it.
"""

import argparse
import collections
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mutations import mutate
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.tools import translate

MODELS = Path(__file__).parent.parent / "models"
INPUTS = Path(__file__).parent / "Inputs"
KINDS = ("artifact", "bytecode", "text")
SECONDS = 5.0


@dataclass(frozen=True)
class Answer:
    """What became of one mutant; `fault` is what should not have.

    `peak` is the memory, in MiB, of the largest child so far.
    """

    seed: int
    mutation: str
    outcome: str
    seconds: float
    fault: str = ""
    peak: int = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, metavar="N", help="artifacts")
    parser.add_argument("--seed", type=int, default=0, help="where to start")
    parser.add_argument("--worker", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.seed, options.count)
        return 0
    faults = 0
    for kind in KINDS:
        count = options.count if kind == "artifact" else options.count // 4
        started = time.monotonic()
        answers = list(supervise(kind, options.seed, count))
        report(kind, answers, time.monotonic() - started)
        faults += sum(bool(answer.fault) for answer in answers)
    return int(faults > 0)


def report(kind: str, answers: Sequence[Answer], took: float) -> None:
    print(f"{kind}: {len(answers)} mutants in {took:.0f} s")
    for outcome, times in collections.Counter(a.outcome for a in answers).most_common():
        print(f"  {times:6}  {outcome}")
    print(f"  slowest answer: {max(answer.seconds for answer in answers):.2f} s")
    print(f"  largest child: {max(answer.peak for answer in answers)} MiB")
    for answer in answers:
        if answer.fault:
            print(f"  FAULT {kind} --seed {answer.seed} ({answer.mutation}): {answer.fault}")
    sys.stdout.flush()


def supervise(kind: str, start: int, count: int) -> Iterator[Answer]:
    """Answers of workers; one that dies is a fault of the mutant it was at, and is replaced."""
    seed, end = start, start + count
    while seed < end:
        command = [sys.executable, __file__, "--worker", kind]
        command += ["--seed", str(seed), "--count", str(end - seed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout
            if worker.stdout.readline() != "ready\n":
                raise SystemExit("the worker did not start")
            for line in worker.stdout:
                answer = Answer(**json.loads(line))
                yield answer
                seed = answer.seed + 1
        if seed < end:
            yield Answer(seed, "?", "death", 0.0, f"the process died: status {worker.returncode}")
            seed += 1


def work(kind: str, start: int, count: int) -> None:
    originals = modules(kind)
    print("ready", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(start, start + count):
            mutation, data = mutate(seed, originals, text=kind == "text")
            answer = judge(seed, mutation, data)
            if seed % 10 == 0 and not answer.fault:
                answer = translated(answer, data, Path(folder), kind)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
            print(json.dumps(asdict(replace(answer, peak=peak))), flush=True)


def judge(seed: int, mutation: str, data: bytes) -> Answer:
    outcome, fault = "module", ""
    started = time.monotonic()
    try:
        module = mlir_fp8.load(data)
    except mlir_fp8.Fp8Error as error:
        module, message = None, str(error)
        outcome = "one line: the library crashed" if "crashed" in message else "one line"
        if "in time" in message:
            outcome = "one line: the library hung"
        if "\n" in message or not message.isprintable() or len(message) > 2000:
            fault = f"not one clear line: {message!r:.300}"
    except Exception as error:
        module, fault = None, f"{type(error).__name__}: {error!s:.300}"
    took = time.monotonic() - started
    if took > SECONDS:
        fault = f"took {took:.1f} s"
    if module is not None:
        fault = use(module, seed % 5 == 0)
    return Answer(seed, mutation, outcome, took, fault)


def use(module: ir.Module, again: bool) -> str:
    """What goes wrong with a module that was read, if anything."""
    try:
        if not module.operation.verify():
            return "the module that was read is not valid"
        str(module)
        module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
        if again:
            mlir_fp8.serialize(module)
    except mlir_fp8.Fp8Error:
        return ""
    except Exception as error:
        return f"unusable: {type(error).__name__}: {error!s:.300}"
    return ""


def translated(answer: Answer, data: bytes, folder: Path, kind: str) -> Answer:
    """The same answer, with a fault if `fp8-translate -o` leaves anything but a whole file."""
    source, output = folder / "in", folder / "out"
    source.write_bytes(data)
    direction = "--deserialize" if kind == "artifact" else "--serialize"
    with redirect_stderr(io.StringIO()) as said:
        status = translate.main([direction, str(source), "-o", str(output)])
    left = {file.name for file in folder.iterdir()} - {"in"}
    output.unlink(missing_ok=True)
    good = left == {"out"} if status == 0 else not left and said.getvalue().count("\n") == 1
    if good:
        return answer
    return replace(answer, fault=f"fp8-translate: {status}, {left}, {said.getvalue()!r:.300}")


def modules(kind: str) -> list[bytes]:
    """The five modules: three real models, one of every small float, one of control flow."""
    artifacts = [file.read_bytes() for file in sorted(MODELS.glob("*.mlirbc"))]
    texts = [file.read_bytes() for file in sorted(INPUTS.glob("*.mlir"))]
    if kind == "text":
        return [
            (MODELS / file.name).with_suffix(".mlir").read_bytes()
            for file in sorted(MODELS.glob("*.mlirbc"))
        ] + texts
    artifacts += [mlir_fp8.serialize(mlir_fp8.load(text)) for text in texts]
    assert len(artifacts) == 5
    if kind == "artifact":
        return artifacts
    return [bytecode(mlir_fp8.load(artifact)) for artifact in artifacts]


def bytecode(module: ir.Module) -> bytes:
    """MLIR bytecode, which promises nothing about versions."""
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


if __name__ == "__main__":
    sys.exit(main())
