"""`mlir_fp8.load_checkpoint`: FP8 safetensors, in the forms in which they are shipped."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mlir_fp8.arrays.tensor_specs import element_dtype, element_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.companions import (
    CACHE_SCALES,
    PACKED,
    ZERO_POINT,
    input_scale_names,
    weight_scale_names,
)
from mlir_fp8.checkpoints.f8_weight import Checkpoint, F8Weight
from mlir_fp8.checkpoints.quantization_config import Scheme, Schemes, read_schemes
from mlir_fp8.checkpoints.scale_layout import fitted_scale
from mlir_fp8.failures.internal_error import public
from mlir_fp8.tensors.array_files import file_entries
from mlir_fp8.tensors.file_entry import Entry
from mlir_fp8.tensors.shards import SUFFIX

F8 = frozenset({"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"})
_SCALE_DTYPES = frozenset({"f32", "bf16", "f16", "f8E8M0FNU"})


@public
def load_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """The f8 weights of a checkpoint with their scales, by name, and its other tensors.

    `path` is a folder with `config.json` and `model.safetensors.index.json` or one `.safetensors`
    file, or one of these files. Weights and other tensors are the files' own pages. Scales are
    those of compressed-tensors, modelopt and AutoFP8 (`weight_scale`, `input_scale`; one, per row,
    groups, blocks), of DeepSeek (`weight_scale_inv`, which is multiplied by too, in blocks of 128
    by 128) and transformers (`activation_scale`); docs/inference.md has a table. Codes may be
    f8E4M3FN, f8E5M2 or of FNUZ types, and stay what they are.

    Raises `Fp8Error` in one line that names the tensor: f8 without a scale, a scale of another
    shape than the configuration and the weight give it, one that is negative, infinite or NaN, a
    zero point, tensors of integer and 4-bit methods.
    """
    file = _file_of(Path(path))
    entries = {entry.name: entry for entry in file_entries(str(file))}
    return _checkpoint(str(file), entries, read_schemes(file.parent))


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    indices = sorted(path.glob(f"*{SUFFIX}"))
    files = indices or sorted(path.glob("*.safetensors"))
    if len(files) != 1:
        names = ", ".join(each.name for each in files) or "none"
        raise Fp8Error(f"'{path}' holds no one checkpoint ({names}): name the .safetensors file")
    return files[0]


def _checkpoint(path: str, entries: Mapping[str, Entry], schemes: Schemes) -> Checkpoint:
    arrays = {name: entry.read() for name, entry in entries.items()}
    taken: set[str] = set()
    weights: dict[str, F8Weight] = {}
    for name in arrays:
        if name.endswith(PACKED):
            raise Fp8Error(f"'{path}': '{name}' is of a method that packs codes, which is not FP8")
    for name, array in arrays.items():
        if element_name(array.dtype) in F8 and not name.endswith(ZERO_POINT):
            weights[name] = _weight(path, name, arrays, schemes(name), taken)
    if not weights:
        raise Fp8Error(f"'{path}' holds no f8 weight: mlir_fp8.load_arrays reads other tensors")
    cache_scales = {
        name: _number(path, name, array)
        for name, array in arrays.items()
        if name.endswith(CACHE_SCALES)
    }
    rest = arrays.keys() - taken - weights.keys() - cache_scales.keys()
    others = {name: array for name, array in arrays.items() if name in rest}
    return Checkpoint(path, weights, others, cache_scales)


def _weight(
    path: str, name: str, arrays: Mapping[str, np.ndarray], scheme: Scheme, taken: set[str]
) -> F8Weight:
    codes = arrays[name]
    if codes.ndim < 2:
        raise Fp8Error(f"'{path}': '{name}' is f8 of shape {list(codes.shape)}, which is no matrix")
    found = [each for each in weight_scale_names(name) if each in arrays]
    if len(found) != 1:
        what = "two scales" if found else "no scale"
        known = ", ".join(found or weight_scale_names(name))
        raise Fp8Error(f"'{path}': '{name}' is f8 with {what}: one of {known}")
    _check_zero_point(path, f"{name}{ZERO_POINT}", arrays, taken)
    place = f"'{path}': '{found[0]}'"
    declared = None if scheme.block is None else scheme.block(codes.ndim)
    scale, block = fitted_scale(place, codes.shape, _scale(place, arrays[found[0]]), declared)
    inputs = [each for each in input_scale_names(name) if each in arrays]
    taken.update(found, inputs)
    input_scale = _number(path, inputs[0], arrays[inputs[0]]) if inputs else None
    activation = scheme.activation
    if activation is None and inputs:
        activation = "static"
    if activation == "static" and input_scale is None:
        missing = input_scale_names(name)[0]
        raise Fp8Error(f"'{path}': '{name}' has static activations, and no '{missing}'")
    return F8Weight(codes, scale, block, activation, input_scale)


def _scale(place: str, array: np.ndarray) -> np.ndarray:
    """In f32, which holds every value exactly."""
    if array.dtype == np.uint8:  # how compressed-tensors keeps exponents of MX scales
        array = array.view(element_dtype("f8E8M0FNU"))
    if element_name(array.dtype) not in _SCALE_DTYPES:
        raise Fp8Error(f"{place} is of {array.dtype}, which is no scale")
    scale = array.astype(np.float32)
    if not (np.isfinite(scale) & (scale >= 0)).all():
        raise Fp8Error(f"{place} has scales that are negative, infinite or NaN")
    return scale


def _number(path: str, name: str, array: np.ndarray) -> np.float32:
    """A scale of a whole tensor that something is divided by."""
    place = f"'{path}': '{name}'"
    if array.size != 1:
        raise Fp8Error(f"{place} has shape {list(array.shape)}: only one number is read here")
    number = np.float32(_scale(place, array).reshape(()))
    if number == 0:
        raise Fp8Error(f"{place} is 0, which nothing can be divided by")
    return number


def _check_zero_point(
    path: str, name: str, arrays: Mapping[str, np.ndarray], taken: set[str]
) -> None:
    """Some writers keep one of zeros."""
    if name not in arrays:
        return
    if arrays[name].astype(np.float32).any():
        raise Fp8Error(f"'{path}': '{name}' is not 0: FP8 weights are symmetric")
    taken.add(name)
