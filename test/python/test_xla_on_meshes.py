"""Modules on several devices of XLA's: in a process with eight, and on two processes."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.execution import bytecode
from mlir_fp8.tools import run as fp8_run
from mlir_fp8.xla import processes
from mlir_fp8.xla.options import XlaOptions

pytest.importorskip("jax")

RING = Path(__file__).parents[2] / "examples/ring.mlir"
ROWS = np.arange(24).reshape(4, 2, 3).astype(element_dtype("f8E4M3FN"))
AXES = "give sizes of axes, as in {'x': 2, 'y': 4}, a number, or a jax.sharding.Mesh"
PROGRAM = """
import sys
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import mlir_fp8

mlir_fp8.compile(sys.argv[1], backend="xla", mesh=8 // 2)  # starts JAX with as many as it needs
try:
    mlir_fp8.compile(sys.argv[1], backend="xla", mesh=8)
except mlir_fp8.Fp8Error as error:
    print(error)
mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
columns, tiles = NamedSharding(mesh, P(None, "x")), NamedSharding(mesh, P("y", "x"))

def function(a, b):
    def each(a, b):
        c = jax.lax.all_gather(b, "y", axis=1, tiled=True)
        return jax.lax.psum(a @ c, "x") + jax.lax.axis_index("y")
    mapped = jax.shard_map(each, mesh=mesh, in_specs=(P(None, "x"), P("x", "y")),
                           out_specs=P(None, "y"), check_vma=False)
    return jax.lax.with_sharding_constraint(mapped(a, b), tiles), jnp.sum(a)

a = np.arange(32).reshape(4, 8).astype(np.float32)
b = np.arange(-40, 56).reshape(8, 12).astype(np.float32)
exported = jax.export.export(jax.jit(function, in_shardings=(columns, None)))(a, b)
artifact = exported.mlir_module_serialized
open(sys.argv[2], "wb").write(artifact)
wanted = [np.asarray(each) for each in jax.jit(function)(a, b)]
for given in (4, {"x": 2, "y": 2}, "x=2,y=2", mesh):
    module = mlir_fp8.compile(artifact, backend="xla", mesh=given)
    assert module.shardings[0].is_equivalent_to(columns, 2)
    results = module(a, b)
    assert results[0].sharding.is_equivalent_to(tiles, 2)
    for got, want in zip(results, wanted, strict=True):
        assert np.array_equal(got, want)
    assert "all-gather" in module.optimized_hlo
    moved = module(jax.device_put(a, tiles), jnp.asarray(b), as_="numpy")
    assert all(map(np.array_equal, moved, wanted))
simulated = mlir_fp8.compile(artifact, simulate_devices=4)(a, b)
assert all(map(np.array_equal, simulated, wanted))
for given in ({"x": 4}, 8, {"x": 2, "z": 2}, "x=2,x=2", "x", {}, 0, True):
    try:
        mlir_fp8.compile(artifact, backend="xla", mesh=given)
    except mlir_fp8.Fp8Error as error:
        print(error)
for arrays in ((a,), (a, b.astype(np.float64)), (jnp.asarray(a), jnp.asarray(b[:2]))):
    try:
        module(*arrays)
    except mlir_fp8.Fp8Error as error:
        print(error)
"""


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A sharded artifact of JAX's, and what `PROGRAM` printed."""
    path = tmp_path_factory.mktemp("sharded") / "sharded.mlirbc"
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, RING, path],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"JAX_PLATFORMS": "cpu"},
    )
    assert run.returncode == 0, run.stderr
    return path, run.stdout.splitlines()


def test_in_one_process(artifact: tuple[Path, list[str]]) -> None:
    few, *refusals = artifact[1]
    assert few.startswith("8 devices are asked for, and")
    assert refusals == [
        "mesh is x=4, and the module's is x=2,y=2",
        "8 devices are asked for, and the module's mesh is x=2,y=2",
        "mesh is x=2,z=2, and the module's is x=2,y=2",
        "'x=2,x=2' has an axis twice",
        "'x' is no mesh: give axes and their sizes, as in x=2,y=4",
        f"mesh is {{}}: {AXES}",
        f"mesh is 0: {AXES}",
        f"mesh is True: {AXES}",
        "'main' takes 2 arguments, 1 were given",
        "argument 1 is tensor<8x12xf64>, declared tensor<8x12xf32>",
        "argument 1 is float32[2, 12], declared tensor<8x12xf32>",
    ]


def test_judges_run_what_is_sharded(artifact: tuple[Path, list[str]]) -> None:
    a = np.arange(32).reshape(4, 8).astype(np.float32)
    b = np.arange(-40, 56).reshape(8, 12).astype(np.float32)
    verdict = mlir_fp8.compare(artifact[0], a, b, judges=("llvm", "xla"))
    assert [each.refusal for each in verdict.opinions] == [None, None]
    assert all(each.identical == 1 for each in verdict.agreements)
    verdict = mlir_fp8.compare(RING, ROWS)
    assert verdict.is_good, verdict.opinions
    ours, interpreter, xla = (each.refusal for each in verdict.opinions)
    assert (ours, xla) == (None, None)
    assert interpreter == "the interpreter runs programs of one device: simulate them (llvm)"


def test_replicas_are_refused() -> None:
    text = RING.read_text().replace("handle<handle = 1, type = 1>", "handle<handle = 0, type = 1>")
    for old, new in (("partitions = 4", "partitions = 1"), ("replicas = 1", "replicas = 4")):
        text = text.replace(old, new)
    verdict = mlir_fp8.compare(text, ROWS, judges=("llvm", "xla"))
    ours, refused = (each.refusal for each in verdict.opinions)
    assert ours is None
    assert "'stablehlo.collective_permute' is among replicas, and XLA's" in str(refused)


def run(*options: str, capsys: pytest.CaptureFixture[str]) -> str:
    status = fp8_run.main([str(RING), "--random=0", *options])
    captured = capsys.readouterr()
    assert (status == 0) == (not captured.err), captured.err
    return captured.err or captured.out


def test_fp8_run(capsys: pytest.CaptureFixture[str]) -> None:
    simulated = run("--simulate-devices=4", "--print", capsys=capsys)
    shared = run("--backend=xla", "--devices=4", "--processes=2", "--print", capsys=capsys)
    assert shared == simulated


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--devices=4"], "--devices and --mesh go with --backend=xla"),
        (["--backend=xla", "--processes=2"], "--processes shares devices"),
        (["--backend=xla", "--devices=8", "--mesh=x=2,y=2"], "--mesh is of 4 devices, not of"),
        (["--backend=xla", "--devices=4", "--device=gpu"], "of the CPU: they go without --device"),
        (["--backend=xla", "--devices=4", "--processes=3"], "4 devices cannot be shared by 3"),
        (["--backend=xla", "--mesh=x"], "'x' is no mesh"),
        (["--backend=xla", "--devices=0"], "'0' is not a number from 1 up"),
        (["--backend=xla", "--devices=999999"], "999999 devices of the CPU: 512 at most"),
        (["--simulate-devices=4", "--compare=llvm,xla"], "--simulate-devices goes with"),
        (["--simulate-devices=4", "--threads=2"], "--threads goes without --simulate-devices"),
        (["--simulate-devices=0x4"], "'0x4' is not a number, or two as in 2x4"),
    ],
)
def test_options_that_do_not_go_together(
    options: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reason in run(*options, capsys=capsys)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> "list[subprocess.Popen[bytes]]":
    """The processes that run, as they are started."""
    found: list[subprocess.Popen[bytes]] = []
    start = processes._started

    def keep(folder: Path, number: int) -> "subprocess.Popen[bytes]":
        found.append(start(folder, number))
        return found[-1]

    monkeypatch.setattr(processes, "_started", keep)
    return found


def shared(devices: int = 4, seconds: float = 100.0) -> None:
    module = mlir_fp8.load(RING)
    processes.run_in_processes(
        (bytecode(module), "ring"), [ROWS], XlaOptions(), devices,
        devices=devices, processes=2, seconds=seconds,
    )  # fmt: skip


@pytest.mark.parametrize("after", [0.0, 1.0])
def test_a_process_that_dies_ends_the_others(
    started: "list[subprocess.Popen[bytes]]", after: float
) -> None:
    def kill() -> None:
        while len(started) < 2:
            time.sleep(0.01)
        time.sleep(after)
        started[1].kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(Fp8Error, match=r"^process 1 of 2 died of SIGKILL, and the run with it$"):
        shared()
    killer.join()
    assert all(each.poll() is not None for each in started)


def test_a_process_that_refuses_or_never_ends(
    started: "list[subprocess.Popen[bytes]]",
) -> None:
    with pytest.raises(Fp8Error, match=r"^8 devices are asked for, and the module is for 4$"):
        shared(devices=8)
    with pytest.raises(Fp8Error, match=r"^2 processes did not finish in time$"):
        shared(seconds=0.2)
    assert all(each.poll() is not None for each in started)
