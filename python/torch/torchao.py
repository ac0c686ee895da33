"""torchao's FP8 weights without a GPU."""

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from mlir_fp8.base.errors import Fp8Error

_CHECK = "_check_hardware_support"


@contextlib.contextmanager
def torchao_on_cpu() -> Iterator[None]:
    """Let torchao's `quantize_` make models for the CPU inside of the `with`.

    It leaves out that torchao asks for an NVIDIA, AMD or Intel GPU before it quantizes weights for
    FP8 products (`Float8DynamicActivationFloat8WeightConfig`). What they are made of is as there.
    """
    try:
        api: Any = import_module("torchao.quantization.quant_api")
    except ImportError:
        raise Fp8Error("torchao is not installed: pip install torchao") from None
    check = getattr(api, _CHECK, None)
    if check is None:
        raise Fp8Error("this torchao has another check of the hardware: take 0.18")
    setattr(api, _CHECK, lambda *_: None)
    try:
        yield
    finally:
        setattr(api, _CHECK, check)
