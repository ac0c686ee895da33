"""Runs jobs in a jaxlib's environment, by way of consumer.py; a crash costs only its own job."""

import json
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CONSUMER = Path(__file__).with_name("consumer.py")
PATIENCE_IN_SECONDS = 600


@dataclass(frozen=True)
class Job:
    """One artifact that the release shall write; for `kind` see consumer.py."""

    kind: str
    name: str
    source: Path
    version: str
    output: Path

    def __str__(self) -> str:
        return f"{self.name} at {self.version} ({self.kind})"


def run_jobs(jobs: Sequence[Job], python: Path, folder: Path) -> dict[Job, str]:
    """The reasons of the jobs that failed."""
    reasons: dict[Job, str] = {}
    waiting = {str(job.output): job for job in jobs}
    for job in jobs:
        job.output.unlink(missing_ok=True)
    while waiting:
        answers, crash = _run_until_crash([*waiting.values()], python, folder)
        for answer in answers:
            if "done" in answer:
                job = waiting.pop(answer["done"])
                if "reason" in answer:
                    reasons[job] = answer["reason"]
        if waiting:
            started = answers[-1].get("started") if answers else None
            reasons[waiting.pop(started or next(iter(waiting)))] = crash
    return reasons


def _run_until_crash(
    jobs: Sequence[Job], python: Path, folder: Path
) -> tuple[list[dict[str, str]], str]:
    job_file, answer_file = folder / "jobs.json", folder / "answers.jsonl"
    rows = [
        {"kind": job.kind, "source": str(job.source), "version": job.version,
         "output": str(job.output)} for job in jobs
    ]  # fmt: skip
    job_file.write_text(json.dumps(rows))
    answer_file.unlink(missing_ok=True)
    command = [str(python), str(CONSUMER), str(job_file), str(answer_file)]
    try:
        run = subprocess.run(command, capture_output=True, timeout=PATIENCE_IN_SECONDS, check=False)
        status = run.returncode
        crash = f"crash ({signal.Signals(-status).name})" if status < 0 else f"exit status {status}"
    except subprocess.TimeoutExpired:
        crash = f"no answer in {PATIENCE_IN_SECONDS} s"
    lines = answer_file.read_text().splitlines() if answer_file.exists() else []
    return [json.loads(line) for line in lines], crash
