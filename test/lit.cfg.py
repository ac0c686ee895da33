"""lit's configuration: which files are tests, and which programs their RUN lines call.

Works under `pytest` (see conftest.py) and under `lit test`; programs are those of the interpreter
that runs lit.
"""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import lit.formats

config: Any = globals()["config"]

TEST_FOLDER = Path(__file__).parent
SCRIPTS = Path(sys.executable).parent
# What a RUN line may call, and the module that is the same program.
PROGRAMS = {
    "fp8-opt": "mlir_fp8.tools.opt",
    "fp8-translate": "mlir_fp8.tools.translate",
    "fp8-run": "mlir_fp8.tools.run",
    "fp8-explain": "mlir_fp8.tools.explain",
    "fp8-quantize": "mlir_fp8.tools.quantize",
    "fp8-tune": "mlir_fp8.tools.tune",
    "filecheck": "filecheck",
    "FileCheck": "filecheck",
}
# Commands without start-up, made by pytest for its run (see warm_tools.py).
WARM_TOOLS = os.environ.get("MLIR_FP8_WARM_TOOLS")


def command(program: str, module: str) -> str:
    """The script beside the interpreter, or the module where the package is not installed."""
    if WARM_TOOLS is not None:
        return shlex.quote(str(Path(WARM_TOOLS) / program.lower()))
    script = SCRIPTS / program.lower()
    if os.access(script, os.X_OK):
        return shlex.quote(str(script))
    return f"{shlex.quote(sys.executable)} -m {module}"


config.name = "mlir-fp8"
# lit's own shell: the same on every system, with `not`, pipes that fail when any part does, and
# each command's output in the report of a failure.
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = {".mlir", ".test"}
# Data and inputs of other tests.
config.excludes = {"models", "Inputs", "golden", "cases"}
config.test_source_root = str(TEST_FOLDER)
# lit keeps a file there that two runs at once would write over each other.
worker = globals()["lit_config"].params.get("worker", "")
config.test_exec_root = str(TEST_FOLDER.parent / "build" / "lit" / worker)
config.environment["PATH"] = os.pathsep.join((str(SCRIPTS), os.environ.get("PATH", "")))
if "PYTHONPATH" in os.environ:
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
config.substitutions.append(("%python", shlex.quote(sys.executable)))
for name, module_name in PROGRAMS.items():
    # Only as a word of its own: not in a path, not as a part of another name.
    word = rf"(?<![\w./-]){name}(?![\w./-])"
    config.substitutions.append((word, command(name, module_name)))
