"""Exchanges artifacts with every jaxlib release of the list and writes docs/compatibility.md.

Each release gets its own environment under --root (0.3 GB each), made by pip. A release that is
finished with this library is not run again: remove its `result.json` under --root to repeat it.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from exchange import Result, exchange, library_version
from page import page
from releases import RELEASES, SetupError

PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    default = CACHE / "mlir-fp8" / "jaxlib"
    parser.add_argument("--root", type=Path, default=default, help="default: %(default)s")
    parser.add_argument(
        "--only", nargs="+", metavar="VERSION", help="these releases, and no page is written"
    )
    parser.add_argument(
        "--interpreter", type=Path, action="append", default=[], help="a Python 3.11 or 3.12"
    )
    parser.add_argument("--remove", action="store_true", help="remove each environment after use")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    releases = [each for each in RELEASES if not options.only or each.jaxlib in options.only]
    results: list[Result] = []
    for number, release in enumerate(releases, 1):
        folder = options.root / "results" / release.jaxlib
        saved = folder / "result.json"
        started = time.monotonic()
        result = Result.load(saved) if saved.exists() else None
        if result is None or result.library != library_version():
            try:
                python = release.environment(options.root, options.interpreter)
            except SetupError as error:
                print(f"error: {error}", file=sys.stderr)
                return 1
            result = exchange(release, python, folder)
            result.save(saved)
            if options.remove:
                shutil.rmtree(options.root / release.jaxlib)
        results.append(result)
        print(
            f"[{number}/{len(releases)}] jaxlib {result.jaxlib}, StableHLO {result.stablehlo}:"
            f" reads ours {result.reads_ours.passed}/{result.reads_ours.total},"
            f" we read theirs {result.we_read.passed}/{result.we_read.total}"
            f" ({time.monotonic() - started:.1f} s)",
            flush=True,
        )
    failures = [each for result in results for each in _failures(result)]
    if options.only:
        print(*failures, sep="\n")
        return 1 if failures or not releases else 0
    PAGE.write_text(page(results))
    return 0


def _failures(result: Result) -> list[str]:
    return [
        f"jaxlib {result.jaxlib}: {failure}"
        for failure in result.reads_ours.failures + result.we_read.failures
    ]


if __name__ == "__main__":
    sys.exit(main())
