"""What all tests share: which of them run, and lit tests as tests of pytest.

Tests marked `exhaustive` run with `--exhaustive` alone. So do most cases of a parametrized test
marked `sampled(n)`: without, every n-th case and the last run, and as many more as it takes for
each value of each of several parameters to occur.

Every lit test (a `.mlir` or `.test` file with RUN lines) is a test of pytest. lit runs once per
session, on the selected files only (in a worker of pytest-xdist, once per file); each file is then
one pytest item with its own outcome, and a failing one shows what lit printed for it. The tools
that RUN lines call are started warm (warm_tools.py); with `--exhaustive`, as users start them.
"""

import gc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from warm_tools import WarmTools, is_possible

TEST_FOLDER = Path(__file__).parent
LIT_SUFFIXES = {".mlir", ".test"}
# As in lit.cfg.py.
EXCLUDED_FOLDERS = {"models", "Inputs", "golden", "cases"}
# An expected failure is a success; a test that did not run is not.
GOOD_CODES = {"PASS", "FLAKYPASS", "XFAIL"}
RESULTS = pytest.StashKey[dict[Path, dict[str, Any]]]()
LEFT_OUT = pytest.StashKey[int]()
# The folder of warm commands: for lit.cfg.py, and from pytest-xdist's controller for its workers.
WARM_TOOLS = "MLIR_FP8_WARM_TOOLS"
OF_TOOLS = ("test_readme.py", "test_warm_tools.py")
"""Tests that start tools, beside those in test/tools."""

# Tests are of what is compiled now, not of what an earlier run left on disk.
os.environ["MLIR_FP8_CACHE"] = "off"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--exhaustive",
        action="store_true",
        help="run the tests that take long too, and the tools as users start them",
    )
    parser.addoption(
        "--rest",
        action="store_true",
        help="with --exhaustive: not the tests that are the same without it",
    )
    parser.addoption(
        "--every", type=int, default=1, metavar="N", help="with --rest: every N-th of them alone"
    )


def pytest_configure(config: pytest.Config) -> None:
    for marker in (
        "exhaustive: exhaustive or slow by nature; runs with --exhaustive alone",
        "sampled(n): without --exhaustive, every n-th case, and each value of several parameters",
    ):
        config.addinivalue_line("markers", marker)
    # Of random programs; tests of numbers say how many for themselves.
    examples = 12 if config.getoption("--exhaustive") else 4
    settings.register_profile("programs", max_examples=examples)
    settings.load_profile("programs")
    is_asked = config.getoption("--exhaustive") or config.getoption("--collect-only")
    if is_asked or not is_possible() or WARM_TOOLS in os.environ:
        return
    folder = tempfile.TemporaryDirectory(prefix="warm-tools-")
    tools = WarmTools(Path(folder.name))
    tools.__enter__()
    os.environ[WARM_TOOLS] = folder.name
    # Last added, first called.
    config.add_cleanup(folder.cleanup)
    config.add_cleanup(tools.close)
    config.add_cleanup(_forget_warm_tools)


def _forget_warm_tools() -> None:
    del os.environ[WARM_TOOLS]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked, rest = config.getoption("--exhaustive"), config.getoption("--rest")
    if asked and not rest:
        return
    chosen = _quick(items)
    if asked:
        same = {item for item in chosen if _is_the_same(item)}
        chosen = set([item for item in items if item not in same][:: config.getoption("--every")])
    left_out = [item for item in items if item not in chosen]
    config.stash[LEFT_OUT] = 0 if asked else len(left_out)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item in chosen]


def pytest_collection_finish() -> None:
    # What is imported stays: neither the collector nor forks have to walk through it.
    gc.collect()
    gc.freeze()


def _quick(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    quick: set[pytest.Item] = set()
    sampled: dict[str, list[pytest.Function]] = {}
    for item in items:
        if item.get_closest_marker("exhaustive") is not None:
            continue
        if isinstance(item, pytest.Function) and item.get_closest_marker("sampled") is not None:
            sampled.setdefault(item.nodeid.partition("[")[0], []).append(item)
        else:
            quick.add(item)
    for cases in sampled.values():
        quick.update(_sample(cases))
    return quick


def _is_the_same(item: pytest.Item) -> bool:
    """Whether `item` does with `--exhaustive` what it does without."""
    if not isinstance(item, pytest.Function) or "exhaustive" in item.fixturenames:
        return False
    starts_tools = item.path.parent.name == "tools" or item.path.name in OF_TOOLS
    return not starts_tools and not hasattr(item.obj, "hypothesis")


def _sample(cases: Sequence[pytest.Function]) -> list[pytest.Function]:
    marker = cases[0].get_closest_marker("sampled")
    assert marker is not None
    taken = [*cases[:-1][:: marker.args[0]], cases[-1]]
    seen = {value for case in taken for value in _values(case)}
    times = Counter(value for case in cases for value in _values(case))
    for case in cases:
        missing = {value for value in _values(case) - seen if times[value] > 1}
        if missing:
            taken.append(case)
            seen |= missing
    return taken


def _values(case: pytest.Function) -> set[tuple[str, int]]:
    # Combinations share the objects that `parametrize` was given; not all of them have a hash.
    return {(name, id(value)) for name, value in case.callspec.params.items()}


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        output: dict[str, Any] = session.config.workeroutput  # pyright: ignore[reportAttributeAccessIssue]
        output["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker of pytest-xdist collects all tests: the number is one worker's."""
    if hasattr(node, "workeroutput"):
        node.config.stash[LEFT_OUT] = node.workeroutput["left_out"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = terminalreporter.config.stash.get(LEFT_OUT, 0)
    if left_out:
        line = f"{left_out} exhaustive tests not run: python -m pytest --exhaustive runs all"
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def exhaustive(pytestconfig: pytest.Config) -> bool:
    """Whether the run is to try everything: for tests that try a part otherwise."""
    return bool(pytestconfig.getoption("--exhaustive"))


class LitError(Exception):
    """lit's report of one test."""


class LitItem(pytest.Item):
    """One lit file."""

    def runtest(self) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        results = _run_lit([self.path], worker) if worker else _results(self.session)
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


def _lit() -> list[str]:
    if WARM_TOOLS in os.environ:
        return [str(Path(os.environ[WARM_TOOLS]) / "lit")]
    # lit has no `-m lit`.
    return [sys.executable, "-c", "from lit.main import main; main()"]


def _run_lit(files: Sequence[Path], worker: str = "") -> dict[Path, dict[str, Any]]:
    options = [f"-j{min(2, len(files))}", "--quiet", f"--param=worker={worker}"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "results.json"
        run = subprocess.run(
            [*_lit(), *options, f"--output={report}", *map(str, files)],
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise LitError(f"lit did not run:\n{run.stdout}{run.stderr}")
        tests = json.loads(report.read_text())["tests"]
    # A name is "mlir-fp8 :: tools/opt.mlir".
    return {(TEST_FOLDER / test["name"].split(" :: ")[1]).resolve(): test for test in tests}
