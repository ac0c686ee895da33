"""The functions of kernels that a module needs, each once."""

from torch_mlir import ir
from torch_mlir.dialects import memref


class KernelFunctions:
    """The functions made so far; equal ones are one. Their names are new to `module`."""

    def __init__(self, module: ir.Operation) -> None:
        symbols = [op.operation.attributes for op in module.regions[0].blocks[0]]
        self._taken = {ir.StringAttr(a["sym_name"]).value for a in symbols if "sym_name" in a}
        self._module = module
        self._names: dict[str, str] = {}
        self._texts: list[str] = []

    def name_of(self, kind: str, text: str) -> str:
        """The name of the function whose text is `text` with @NAME for its name."""
        if text not in self._names:
            number = len(self._names)
            while f"{kind}_{number}" in self._taken:
                number += 1
            self._names[text] = name = f"{kind}_{number}"
            self._taken.add(name)
            self._texts.append(text.replace("@NAME(", f"@{name}(", 1))
        return self._names[text]

    def add_to_module(self) -> None:
        kernels = ir.Module.parse("\n".join(self._texts), self._module.context)
        block = self._module.regions[0].blocks[0]
        for function in list(kernels.body.operations):
            function.operation.clone(ip=ir.InsertionPoint.at_block_begin(block))


def start_of(buffer: ir.Value) -> ir.Value:
    """The whole buffer that `buffer` is a view of, as one element: functions take all sizes so."""
    type_ = ir.MemRefType.get([1], buffer.type.element_type)
    return memref.reinterpret_cast(type_, buffer, [], [], [], [0], [1], [1])


def scratch(size: int) -> ir.Value:
    """A buffer of so many bytes, aligned to a line of the cache."""
    type_ = ir.MemRefType.get([size], ir.IntegerType.get_signless(8))
    return memref.alloc(type_, [], [], alignment=64)
