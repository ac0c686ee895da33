"""`fp8-quantize-cache`: KV caches become f8 arguments and results with their scales."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.caches.quantize import quantize_caches
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks


@dataclass(frozen=True)
class Fp8QuantizeCache(ModulePass):
    """Let a function take and give its KV caches in f8, quantizing rows as they are written.

    See docs/inference.md. `cache` are names of arguments or patterns, with `;` between them;
    `scales` is token (a scale for each head and token, written beside the rows) or head (an
    argument with a scale for each head). `format` is that of the codes, `entry` the function.
    `remarks` prints a line on stderr for each cache.
    """

    cache: str = ""
    scales: str = "token"
    format: str = "f8E4M3FN"
    entry: str = "main"
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        patterns = [each for each in self.cache.split(";") if each]
        if not patterns:
            raise Fp8Error("cache names nothing: give names of arguments or patterns")
        caches = quantize_caches(module, self.entry, patterns, self.scales, self.format)
        if self.remarks:
            unknown = ir.Location.unknown(module.context)
            print_remarks((unknown, str(each)) for each in caches)
