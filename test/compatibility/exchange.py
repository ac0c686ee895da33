"""Artifacts exchanged with one jaxlib release: it reads ours, we read its own."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version as installed_version
from pathlib import Path

from jobs import CONSUMER, Job, run_jobs
from modules import TRAVELLERS, all_floats, future_texts, generic, meaning, ours, versions_up_to
from releases import Release

from mlir_fp8.artifacts.targets import current_version
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.stablehlo_versions import version_key


@dataclass
class Direction:
    """How many artifacts of one direction came through as the same module."""

    passed: int = 0
    total: int = 0
    failures: list[str] = field(default_factory=list)

    def count(self, failure: str | None) -> None:
        self.total += 1
        if failure is None:
            self.passed += 1
        else:
            self.failures.append(failure)


@dataclass
class Result:
    """What one release did; `future`: what became of what it wrote for a version beyond ours."""

    jaxlib: str
    python: str
    stablehlo: str
    library: str
    versions: list[str]
    reads_ours: Direction = field(default_factory=Direction)
    we_read: Direction = field(default_factory=Direction)
    future: dict[str, str] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1))

    @staticmethod
    def load(path: Path) -> "Result":
        data = json.loads(path.read_text())
        for direction in ("reads_ours", "we_read"):
            data[direction] = Direction(**data[direction])
        return Result(**data)


def library_version() -> str:
    """What stands on our side."""
    torch_mlir = installed_version("torch-mlir")
    return f"StableHLO {current_version()} of torch-mlir {torch_mlir}"


def exchange(release: Release, python: Path, folder: Path) -> Result:
    """Everything with one release; the artifacts stay in `folder`.

    `produced.mlirbc` there is for test/golden: every small float, for the newest common version.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asked = subprocess.run([python, CONSUMER], capture_output=True, text=True, check=True)
    theirs = json.loads(asked.stdout)["current"]
    newest = min(theirs, current_version(), key=version_key)
    versions = versions_up_to(newest)
    result = Result(release.jaxlib, release.python, theirs, library_version(), versions)
    jobs = [job for version in versions for job in _jobs(version, folder)]
    produced = Job("text", "floats", all_floats(newest), newest, folder / "produced.mlirbc")
    reasons = run_jobs([*jobs, produced], python, folder)
    for job in jobs:
        direction = result.reads_ours if job.kind == "artifact" else result.we_read
        direction.count(_judge(job, reasons.get(job)))
    if newest != theirs:
        result.future = _future(theirs, python, folder)
    return result


def _jobs(version: str, folder: Path) -> Iterator[Job]:
    for each in TRAVELLERS.values():
        if version_key(each.since) > version_key(version):
            continue
        stem = f"{each.name}-{version}"
        source = folder / f"{stem}-ours.mlirbc"
        source.write_bytes(ours(each.name, version))
        yield Job("artifact", each.name, source, version, folder / f"{stem}-back.mlirbc")
        output = folder / f"{stem}-theirs.mlirbc"
        if each.parsed_everywhere:
            yield Job("text", each.name, each.path, version, output)
        else:
            yield Job("reprinted", each.name, source, version, output)


def _judge(job: Job, reason: str | None) -> str | None:
    """Why the job's artifact is not the module that it should be; None if it is."""
    if reason is not None:
        return f"{job}: {reason}"
    expected, data = ours(job.name, job.version), job.output.read_bytes()
    if data == expected:
        return None
    try:
        same = meaning(data, job.name) == meaning(expected, job.name)
    except Fp8Error as error:
        return f"{job}: {error}"
    return None if same else f"{job}: another module"


def _future(theirs: str, python: Path, folder: Path) -> dict[str, str]:
    """What becomes here of what the release writes for its own version, which is beyond ours."""
    old = TRAVELLERS["f8E4M3FN"]
    texts = {f"`{old.name}`, which is older": old.path} | future_texts(theirs)
    jobs = [
        Job("text", name, path, theirs, folder / f"future-{path.stem}.mlirbc")
        for name, path in texts.items()
    ]
    reasons = run_jobs(jobs, python, folder)
    expected = generic(ours(old.name, current_version()), old.name)
    answers: dict[str, str] = {}
    for job in jobs:
        if job in reasons:
            answers[job.name] = f"not written: {reasons[job]}"
            continue
        try:
            same = generic(job.output.read_bytes(), "artifact.mlirbc") == expected
            answers[job.name] = "read, the same module" if same else "read, another module"
        except Fp8Error as error:
            answers[job.name] = f"refused: {error}"
    return answers
