"""`mlir_fp8.save_checkpoint`: f8 weights as compressed-tensors keeps them, with config.json."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.compressed_tensors import quantization_config
from mlir_fp8.checkpoints.f8_weight import Checkpoint
from mlir_fp8.checkpoints.quantization_config import CONFIG, read_config
from mlir_fp8.failures.internal_error import public
from mlir_fp8.tensors.array_files import file_contents, write_whole
from mlir_fp8.tensors.shards import SHARD_BYTES, SUFFIX


@public
def save_checkpoint(
    folder: str | os.PathLike[str],
    checkpoint: Checkpoint,
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    shard_bytes: int = SHARD_BYTES,
) -> None:
    """Write `checkpoint` into `folder` as compressed-tensors does, for vLLM and transformers.

    `model.safetensors`, or with more than `shard_bytes` its shards and their index, has the codes
    under the names of the weights, which end in `.weight`, f32 scales as `weight_scale` (`[1]`,
    `[n, 1]`, or one per group or block) and `input_scale` (`[1]`), and the other tensors as they
    are. `config.json` is `config`, a mapping or the file of the wide model, with the
    `quantization_config`. Raises `Fp8Error` for what the form has not: codes of other types than
    f8E4M3FN, weights that are no matrix, scales along another dimension, groups that do not divide
    a row. Nothing is written then.
    """
    whole = read_config(Path(config)) if isinstance(config, str | os.PathLike) else config
    scheme = quantization_config(checkpoint)
    text = json.dumps({**(whole or {}), "quantization_config": scheme}, indent=2) + "\n"
    arrays = checkpoint.arrays
    target = Path(folder)
    is_sharded = sum(array.nbytes for array in arrays.values()) > shard_bytes
    name = f"model{SUFFIX}" if is_sharded else "model.safetensors"
    contents = file_contents(str(target / name), arrays, shard_bytes)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Fp8Error(f"cannot make the folder '{target}': {error.strerror}") from None
    for path, parts in [*contents, (str(target / CONFIG), [text.encode()])]:
        write_whole(path, parts)
