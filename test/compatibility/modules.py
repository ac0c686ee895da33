"""The modules that travel, what we write for each StableHLO version, and when two are the same."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torch_mlir import ir

import mlir_fp8
from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.artifacts.targets import current_version
from mlir_fp8.dialects.float_formats import SMALL_FLOATS
from mlir_fp8.dialects.stablehlo_versions import BASE_VERSION, releases, version_key
from mlir_fp8.reading.artifact import deserialize

TESTS = Path(__file__).parents[1]
INPUTS = Path(__file__).with_name("Inputs")
FUTURE = TESTS / "golden" / "from_the_future"
PRODUCED = TESTS / "golden" / "produced_by"


@dataclass(frozen=True)
class Traveller:
    """A module, and the first StableHLO version that can hold it."""

    name: str
    path: Path
    since: str
    parsed_everywhere: bool
    """Whether its text is in a syntax that every release parses."""


MODELS = [
    Traveller(path.stem, path, BASE_VERSION, False)
    for path in sorted((TESTS / "models").glob("*.mlir"))
    if not path.stem.endswith(".mhlo")
]
FLOATS = [
    Traveller(name, INPUTS / f"{name}.mlir", row.stablehlo_version, True)
    for name, row in SMALL_FLOATS.items()
]
TRAVELLERS = {each.name: each for each in MODELS + FLOATS}


def versions_up_to(newest: str) -> list[str]:
    """Each minor version from the oldest on, and `newest` itself."""
    versions = releases(BASE_VERSION, newest)
    return versions if versions[-1] == newest else [*versions, newest]


def all_floats(version: str) -> Path:
    """The text with a function for each small float that `version` knows."""
    texts = {path.stem.removeprefix("floats_"): path for path in PRODUCED.glob("floats_*.mlir")}
    since = {text.replace("_", "."): path for text, path in texts.items()}
    return since[max((v for v in since if version_key(v) <= version_key(version)), key=version_key)]


def future_texts(newest: str) -> dict[str, Path]:
    """What `newest` can hold and our version cannot: a description, and the text."""
    found: dict[str, Path] = {}
    for path in sorted(FUTURE.glob("*.mlir")):
        since, description = path.read_text().splitlines()[0].removeprefix("// since ").split(": ")
        oldest, ours_ = version_key(since), version_key(current_version())
        if ours_ < oldest <= version_key(newest):
            found[f"{description.removesuffix('.')} ({since})"] = path
    return found


@cache
def ours(name: str, version: str) -> bytes:
    """What we write of a module for a version."""
    return mlir_fp8.serialize(_loaded(TRAVELLERS[name].path), version, name=name)


@cache
def _loaded(path: Path) -> ir.Module:
    return mlir_fp8.load(path.read_text())


def generic(data: bytes, name: str) -> str:
    """The module in an artifact, in generic form."""
    module = deserialize(data, name=name)
    return str(module.operation.get_asm(print_generic_op_form=True))


_MEANINGS: dict[bytes, bytes] = {}


def meaning(data: bytes, name: str) -> bytes:
    """A digest of the version and the module in an artifact: generic form, locations aside."""
    digest = hashlib.sha256(data).digest()
    if digest not in _MEANINGS:
        both = f"{artifact_version(data)}\n{generic(data, name)}"
        _MEANINGS[digest] = hashlib.sha256(both.encode()).digest()
    return _MEANINGS[digest]
