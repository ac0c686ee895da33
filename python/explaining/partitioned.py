"""What XLA's partitioner makes of a module: HLO of one device, with the collectives in it."""

import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.shardings import MESHES, frontend_attributes
from mlir_fp8.serialization.serialize import serialize
from mlir_fp8.xla.artifact import readable_version

_AFTER = "*.after_spmd-partitioning.*.txt"
_COPY = re.compile(r"(?<=[\]}] )copy\(")
_GROUPS = re.compile(r"replica_groups=mesh\[([^]]*)\] \{([^}]*)\}")
_AXIS_SIZE = re.compile(r"'([^']+)'=(\d+)")
_AXIS = re.compile(r"'([^']+'(?::\([^)]*\)\d+)?)")
_SECONDS = 600
_PROGRAM = """
import sys
from pathlib import Path

from jax._src.interpreters import mlir
from jax.extend import backend
from jaxlib import xla_client
from jaxlib.mlir.dialects import stablehlo
import numpy as np

artifact, devices, is_shardy = Path(sys.argv[1]).read_bytes(), int(sys.argv[2]), sys.argv[3] == "1"
client = backend.get_backend("cpu")
options = xla_client.CompileOptions()
build = options.executable_build_options
options.num_partitions = build.num_partitions = devices
build.use_spmd_partitioning, build.use_shardy_partitioner = True, is_shardy
order = np.arange(devices).reshape(1, devices)
build.device_assignment = xla_client.DeviceAssignment.create(order)
with mlir.make_ir_context() as context:
    module = stablehlo.deserialize_portable_artifact(context, artifact)
    devices = xla_client.DeviceList(tuple(client.devices()[:devices]))
    client.compile_and_load(module, devices, options)
"""
"""In a process of its own: XLA takes the number of CPU devices, and what to dump, once."""


def partitioned_hlo(module: ir.Module, name: str) -> str:
    """The HLO text right after XLA's partitioner, before a backend changes types.

    The devices are those that the module says it is for (`mhlo.num_partitions`), of the CPU. Raises
    `Fp8Error` where there is no JAX, the module is for one device, or XLA refuses it.
    """
    attributes = module.operation.attributes
    key = "mhlo.num_partitions"
    count = ir.IntegerAttr(attributes[key]).value if key in attributes else 1
    if count < 2:
        raise Fp8Error(f"{name}: is for one device: give the module {key}, or leave --optimized")
    is_shardy = MESHES in frontend_attributes(attributes)
    with tempfile.TemporaryDirectory() as folder:
        artifact, dumped = Path(folder, "artifact"), Path(folder, "dumped")
        artifact.write_bytes(serialize(module, readable_version(), name=name))
        flags = f"--xla_force_host_platform_device_count={count} --xla_dump_to={dumped}"
        run = subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(artifact), str(count), str(int(is_shardy))],
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            env=os.environ
            | {"XLA_FLAGS": f"{flags} --xla_dump_hlo_pass_re=spmd", "JAX_PLATFORMS": "cpu"},
        )
        if run.returncode:
            lines = [line for line in run.stderr.splitlines() if line.strip()]
            reason = next((each for each in reversed(lines) if "Error" in each), "it crashed")
            raise Fp8Error(f"{name}: XLA does not partition it: {reason}")
        found = sorted(dumped.glob(_AFTER))
        if not found:
            raise Fp8Error(f"{name}: XLA wrote no HLO after its partitioner: take another jaxlib")
        # StableHLO has no copies: what one gives is what a reshape to the same shape gives.
        return _GROUPS.sub(_listed, _COPY.sub("reshape(", found[-1].read_text()))


def _listed(found: re.Match[str]) -> str:
    """Groups along axes of a mesh as lists of devices, which all readers of HLO know."""
    sizes = {axis: int(size) for axis, size in _AXIS_SIZE.findall(found[1])}
    axes = [axis.removesuffix("'") for axis in _AXIS.findall(found[2])]
    if any(axis not in sizes for axis in axes):  # a part of an axis
        return found[0]
    names = list(sizes)
    inner = [names.index(axis) for axis in axes]
    outer = [at for at in range(len(names)) if at not in inner]
    devices = np.arange(math.prod(sizes.values())).reshape(list(sizes.values()))
    groups = devices.transpose([*outer, *inner]).reshape(-1, math.prod(sizes[a] for a in axes))
    rows = ",".join("{" + ",".join(map(str, row)) + "}" for row in groups)
    return f"replica_groups={{{rows}}}"
