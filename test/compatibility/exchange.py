"""Artifacts exchanged with one jaxlib release: it reads ours, we read its own."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version as installed_version
from pathlib import Path

from jobs import CONSUMER, Job, run_jobs
from modules import TRAVELLERS, all_floats, meaning, ours, versions_up_to
from releases import Release

from mlir_fp8 import artifact
from mlir_fp8.dialects.stablehlo_versions import version_key
from mlir_fp8.errors import Fp8Error


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
    """What one release did; `future` is how we refuse what it writes for a version beyond ours."""

    jaxlib: str
    python: str
    stablehlo: str
    library: str
    versions: list[str]
    reads_ours: Direction = field(default_factory=Direction)
    we_read: Direction = field(default_factory=Direction)
    future: str = ""

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
    return f"StableHLO {artifact.current_version()} of torch-mlir {torch_mlir}"


def exchange(release: Release, python: Path, folder: Path) -> Result:
    """Everything with one release; the artifacts stay in `folder`.

    `produced.mlirbc` there is for test/golden: every small float, for the newest common version.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asked = subprocess.run([python, CONSUMER], capture_output=True, text=True, check=True)
    theirs = json.loads(asked.stdout)["current"]
    newest = min(theirs, artifact.current_version(), key=version_key)
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


def _future(theirs: str, python: Path, folder: Path) -> str:
    """How we refuse what the release writes for its own version, which is beyond ours."""
    source = TRAVELLERS["f8E4M3FN"].path
    job = Job("text", "f8E4M3FN", source, theirs, folder / "future.mlirbc")
    reasons = run_jobs([job], python, folder)
    if reasons:
        return f"not written: {reasons[job]}"
    try:
        artifact.deserialize(job.output.read_bytes(), name="artifact.mlirbc")
    except Fp8Error as error:
        return str(error)
    return "read"
