"""Makes every lit test (a `.mlir` or `.test` file with RUN lines) a test of pytest.

lit runs once per session, on the selected files only (in a worker of pytest-xdist, once per file);
each file is then one pytest item with its own outcome, and a failing one shows what lit printed for
it.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

TEST_FOLDER = Path(__file__).parent
LIT_SUFFIXES = {".mlir", ".test"}
# As in lit.cfg.py.
EXCLUDED_FOLDERS = {"models", "Inputs", "golden", "cases"}
# lit has no `-m lit`.
LIT = [sys.executable, "-c", "from lit.main import main; main()"]
# An expected failure is a success; a test that did not run is not.
GOOD_CODES = {"PASS", "FLAKYPASS", "XFAIL"}
RESULTS = pytest.StashKey[dict[Path, dict[str, Any]]]()

# Tests are of what is compiled now, not of what an earlier run left on disk.
os.environ["MLIR_FP8_CACHE"] = "off"


class LitError(Exception):
    """lit's report of one test."""


class LitItem(pytest.Item):
    """One lit file."""

    def runtest(self) -> None:
        is_worker = hasattr(self.config, "workerinput")
        results = _run_lit([self.path]) if is_worker else _results(self.session)
        result = results.get(self.path.resolve())
        if result is None:
            raise LitError(f"lit gave no result for {self.path}")
        if result["code"] not in GOOD_CODES:
            raise LitError(f"{result['code']}: {self.path}\n{result['output']}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        if isinstance(excinfo.value, LitError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.path.name


class LitFile(pytest.File):
    """The file of one lit test."""

    def collect(self) -> Iterator[LitItem]:
        for package in ("lit", "filecheck"):
            if importlib.util.find_spec(package) is None:
                raise self.CollectError(f"{package} is not installed: pip install '.[test]'")
        yield LitItem.from_parent(self, name="lit")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> LitFile | None:
    if file_path.suffix not in LIT_SUFFIXES:
        return None
    if EXCLUDED_FOLDERS.intersection(file_path.relative_to(TEST_FOLDER).parts):
        return None
    return LitFile.from_parent(parent, path=file_path)


def _results(session: pytest.Session) -> dict[Path, dict[str, Any]]:
    """lit's result of every selected file; lit runs when the first of them is asked for."""
    if RESULTS not in session.stash:
        files = [item.path for item in session.items if isinstance(item, LitItem)]
        session.stash[RESULTS] = _run_lit(files)
    return session.stash[RESULTS]


def _run_lit(files: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "results.json"
        run = subprocess.run(
            [*LIT, "-j2", "--quiet", f"--output={report}", *map(str, files)],
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise LitError(f"lit did not run:\n{run.stdout}{run.stderr}")
        tests = json.loads(report.read_text())["tests"]
    # A name is "mlir-fp8 :: tools/opt.mlir".
    return {(TEST_FOLDER / test["name"].split(" :: ")[1]).resolve(): test for test in tests}
