"""The functions of kernels that a module needs, each once."""

from torch_mlir import ir
from torch_mlir.dialects import memref


class KernelFunctions:
    """The functions made so far; equal ones are one. None takes a name of `taken`."""

    def __init__(self, taken: set[str]) -> None:
        self._names: dict[str, str] = {}
        self._taken = taken
        self.texts: list[str] = []

    def name_of(self, kind: str, text: str) -> str:
        """The name of the function whose text is `text` with @NAME for its name."""
        if text not in self._names:
            number = len(self._names)
            while f"{kind}_{number}" in self._taken:
                number += 1
            self._names[text] = name = f"{kind}_{number}"
            self._taken.add(name)
            self.texts.append(text.replace("@NAME(", f"@{name}(", 1))
        return self._names[text]

    def declare(self, name: str, types: str) -> None:
        """A function that is no kernel, such as one of LLVM's own."""
        text = f"func.func private @{name}({types})"
        if text not in self.texts:
            self.texts.append(text)

    def add_to(self, module: ir.Operation) -> None:
        """Put the functions first in `module`."""
        kernels = ir.Module.parse("\n".join(self.texts), module.context)
        block = module.regions[0].blocks[0]
        for function in list(kernels.body.operations):
            function.operation.clone(ip=ir.InsertionPoint.at_block_begin(block))


def symbols_of(module: ir.Operation) -> set[str]:
    """The names that are taken in `module`."""
    attributes = [op.operation.attributes for op in module.regions[0].blocks[0]]
    return {ir.StringAttr(each["sym_name"]).value for each in attributes if "sym_name" in each}


def start_of(buffer: ir.Value) -> ir.Value:
    """The whole buffer that `buffer` is a view of, as one element: functions take all sizes so."""
    type_ = ir.MemRefType.get([1], buffer.type.element_type)
    return memref.reinterpret_cast(type_, buffer, [], [], [], [0], [1], [1])


def scratch(size: int) -> ir.Value:
    """A buffer of so many bytes, aligned to a line of the cache, as one of them."""
    type_ = ir.MemRefType.get([size], ir.IntegerType.get_signless(8))
    return start_of(memref.alloc(type_, [], [], alignment=64))
