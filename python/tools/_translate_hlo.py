"""HLO in `fp8-translate`: text and protocol buffers, to and from StableHLO."""

import argparse


def hlo_text_to_stablehlo(name: str, data: bytes, _: argparse.Namespace) -> bytes:
    from mlir_fp8.reading.hlo import parse_hlo_text

    return _text(str(parse_hlo_text(data, name)))


def hlo_proto_to_stablehlo(name: str, data: bytes, _: argparse.Namespace) -> bytes:
    from mlir_fp8.reading.hlo import parse_hlo_proto

    return _text(str(parse_hlo_proto(data, name)))


def stablehlo_to_hlo_text(name: str, data: bytes, _: argparse.Namespace) -> bytes:
    from mlir_fp8.base.context import make_context
    from mlir_fp8.reading.hlo import hlo_text
    from mlir_fp8.reading.loader import parse

    return hlo_text(parse(data, name, make_context()), name).encode()


def stablehlo_to_hlo_proto(name: str, data: bytes, _: argparse.Namespace) -> bytes:
    from mlir_fp8.base.context import make_context
    from mlir_fp8.reading.hlo import hlo_proto
    from mlir_fp8.reading.loader import parse

    return hlo_proto(parse(data, name, make_context()), name)


def _text(module: str) -> bytes:
    return f"{module.rstrip()}\n".encode()
