"""What PyTorch writes, told by content and read without PyTorch: `.pt2` files, and the others.

A `.pt2` file is a zip archive: under one folder the graph (`models/NAME.json`), the weights as they
are in memory (`data/weights`), constants and example inputs. Older PyTorch had other names.
"""

import contextlib
import io
import json
import pickletools
import re
import struct
import zipfile
import zlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, BinaryIO

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.mapped_file import ZIP_MAGIC, MappedFile
from mlir_fp8.torch.installed import check_torch

# How `torch.save` began before it wrote zip archives: a pickled number.
_LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_MODEL = re.compile(r"models/([^/]+)\.json")
_OLD_MODEL = "serialized_exported_program.json"
_EXPORT = "torch.export.save(torch.export.export(model, args), 'model.pt2')"
_WAY_OUT = f"load it in Python and save a program: {_EXPORT}"
# Names in a pickle that is tensors in lists and dicts: functions, storages, dtypes.
_OF_TENSORS = re.compile(r"_rebuild\w+|\w+Storage|Size|OrderedDict|[a-z]+\d\w*|device")


class TorchFile:
    """A zip archive that PyTorch wrote; `name` stands for it in errors."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.data = data
        try:
            self._archive = zipfile.ZipFile(stream_of(data))
            starts = [each.header_offset for each in self._archive.infolist()]
        except (zipfile.BadZipFile, OSError, ValueError, struct.error):
            starts = []
        if not starts or min(starts) > 0:  # the end may be that of an archive within this one
            raise Fp8Error(f"{name}: damaged: a zip archive (.pt2) without its end") from None
        names = self._archive.namelist()
        roots = {each.partition("/")[0] for each in names if "/" in each}
        self._root = f"{roots.pop()}/" if len(roots) == 1 and _OLD_MODEL not in names else ""

    @cached_property
    def entries(self) -> Sequence[str]:
        """The names in it, without the folder that all are in."""
        return [each.removeprefix(self._root) for each in self._archive.namelist()]

    @property
    def models(self) -> Sequence[str]:
        """The names of the programs in it."""
        found = [_MODEL.fullmatch(each) for each in self.entries]
        return [match[1] for match in found if match]

    @property
    def is_old(self) -> bool:
        """Whether it is what PyTorch wrote before 2.8."""
        return _OLD_MODEL in self.entries

    @property
    def is_program(self) -> bool:
        """Whether it holds an `ExportedProgram`."""
        return bool(self.models) or self.is_old

    def read(self, entry: str) -> bytes:
        """The bytes of one entry."""
        return self._archive.read(self._root + entry)

    def place(self, entry: str) -> int | None:
        """Where the bytes of `entry` begin in `data`; None of those that are compressed."""
        info = self._archive.getinfo(self._root + entry)
        if info.compress_type != zipfile.ZIP_STORED:
            return None
        # Its own header may have other fields than the one at the end of the archive.
        at = info.header_offset
        name, extra = struct.unpack("<HH", self.data[at + 26 : at + 30])
        return at + 30 + name + extra

    def json(self, entry: str) -> dict[str, Any]:
        """The JSON object of one entry."""
        try:
            value = json.loads(self.read(entry))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Fp8Error(f"{self.name}: damaged: '{entry}' is no JSON object")
        return value

    def graph(self) -> dict[str, Any]:
        """The program `model`, with the version of its schema."""
        return self.json(_OLD_MODEL if self.is_old else "models/model.json")

    def check_sums(self) -> None:
        """Refuse what was changed on its way: PyTorch does not look at the sums of weights."""
        try:
            damaged = self._archive.testzip()
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise Fp8Error(f"{self.name}: damaged: {error}") from None
        if damaged is not None:
            raise Fp8Error(f"{self.name}: damaged: the checksum of '{damaged}' is another")


def stream_of(data: bytes) -> BinaryIO:
    """`data` as a file that is at its beginning."""
    held: object = data  # which stands for bytes where it is mapped
    if not isinstance(held, MappedFile):
        return io.BytesIO(data)
    held.file.seek(0)
    return held.file


def is_torch_file(data: bytes | memoryview) -> bool:
    """Whether `data` is a zip archive, or what `torch.save` wrote before it made these."""
    start = bytes(data[: len(_LEGACY_MAGIC)])
    return start.startswith(ZIP_MAGIC) or start == _LEGACY_MAGIC


def open_program(data: bytes, name: str) -> TorchFile:
    """The `.pt2` file in `data`; an `Fp8Error` that says what it is where it is another file."""
    if not is_torch_file(data):
        raise Fp8Error(f"{name}: no ExportedProgram, which is a zip archive: {_EXPORT}")
    if not data.startswith(ZIP_MAGIC):
        raise Fp8Error(f"{name}: {_pickled(data[len(_LEGACY_MAGIC) :])}, no program: {_WAY_OUT}")
    file = TorchFile(data, name)
    entries = file.entries
    if any(each.startswith("data/aotinductor/") for each in entries):
        raise Fp8Error(
            f"{name}: holds machine code of AOTInductor: save a program alone: {_EXPORT}"
        )
    if file.is_program:
        return file
    if "constants.pkl" in entries:
        raise Fp8Error(f"{name}: a TorchScript program: export the model instead: {_EXPORT}")
    if "data.pkl" in entries:
        raise Fp8Error(f"{name}: {_pickled(file.read('data.pkl'))}, no program: {_WAY_OUT}")
    if entries and all(each.endswith(".npy") for each in entries):
        raise Fp8Error(f"{name}: arrays (.npz), no module: give them with --args")
    raise Fp8Error(f"{name}: a zip archive without a program of torch.export.save (.pt2)")


def check_reader(name: str) -> None:
    """Raise `Fp8Error` about the file `name` where PyTorch is missing or too old to read it."""
    try:
        check_torch()
    except Fp8Error as error:
        raise Fp8Error(f"{name}: {error}") from None


def _pickled(data: bytes) -> str:
    """What is pickled, from the names in up to three pickles; nothing of them is run."""
    file = io.BytesIO(data)
    names: list[str] = []
    text = ""
    with contextlib.suppress(Exception):  # whatever damaged opcodes, or no more of them, lead to
        for _ in range(3):  # before zip archives: the protocol and the machine, then the object
            for op, value, _ in pickletools.genops(file):
                if op.name == "GLOBAL":
                    names.append(str(value).rpartition(" ")[2])
                elif op.name == "STACK_GLOBAL":
                    names.append(text)
                text = value if isinstance(value, str) else text
    classes = [each for each in names if not _OF_TENSORS.fullmatch(each)]
    return "a pickled nn.Module" if classes else "weights alone (a state dict)"
