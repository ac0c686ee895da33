"""One of the processes that `processes.py` starts: `process_worker FOLDER NUMBER`.

The folder holds the module, its arguments and a plan; it gets the results, of process 0, or what
each refuses in a line.
"""

import json
import sys
from pathlib import Path

from mlir_fp8.arrays.npz import load_arrays, save_arrays
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.xla.devices import imported_jax
from mlir_fp8.xla.failures import reason_of
from mlir_fp8.xla.options import XlaOptions

MODULE, ARGUMENTS, PLAN = "module", "in.npz", "plan.json"
RESULTS, REFUSAL = "out.npz", "refusal"


def main() -> None:
    """Run the part of this process."""
    folder, number = Path(sys.argv[1]), int(sys.argv[2])
    try:
        _run(folder, number)
    except Fp8Error as error:
        _refuse(folder, number, str(error))
    except Exception as error:  # jax and XLA raise whatever they please
        _refuse(folder, number, f"process {number}: {reason_of(error, 'cpu')}")


def _refuse(folder: Path, number: int, reason: str) -> None:
    (folder / f"{REFUSAL}{number}").write_text(reason)
    sys.exit(1)


def _run(folder: Path, number: int) -> None:
    plan = json.loads((folder / PLAN).read_text())
    jax = imported_jax()
    jax.config.update("jax_num_cpu_devices", plan["devices"])
    if plan["processes"] > 1:
        jax.distributed.initialize(plan["address"], plan["processes"], number)
    jax.devices()
    from mlir_fp8.xla.sharded_compilation import compile_sharded

    options = XlaOptions(**plan["options"] | {"donate": ()})
    source = (folder / MODULE).read_bytes(), plan["name"]
    compiled = compile_sharded(source, options, plan["mesh"])
    results = compiled(*load_arrays(folder / ARGUMENTS), as_="numpy")
    if number == 0:
        save_arrays(folder / RESULTS, results)


if __name__ == "__main__":
    main()
