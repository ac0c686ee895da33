"""The functions of kernels that a module needs, each once."""

import re
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func, memref

APART = "mlir_fp8.kernels"
"""On a module, the text of kernels that it only declares."""
_WORTH_IT = 6
"""The least kernels that are put apart; fewer are lowered faster than a context is made."""
_DEFINED = re.compile(r"^func\.func (?:private )?@([\w.]+)\(", re.MULTILINE)
# The attributes of every kernel, by which it is told from other functions.
_MARK = ("no_inline", "llvm.no_inline", "llvm.linkage")


class KernelFunctions:
    """The functions made so far; equal ones are one. None takes a name of `taken`."""

    def __init__(self, taken: set[str]) -> None:
        self._names: dict[str, str] = {}
        self._taken = taken
        self._called: dict[str, list[ir.Type]] = {}
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
        """A function of `types`, as in "(i32) -> f32", that is no kernel: such as one of LLVM's."""
        text = f"func.func private @{name}{types}"
        if text not in self.texts:
            self.texts.append(text)

    def call(self, name: str, arguments: Sequence[ir.Value]) -> None:
        """Call one of the functions from the module."""
        self._called[name] = [each.type for each in arguments]
        func.CallOp([], name, list(arguments))

    def add_to(self, module: ir.Operation, *, apart: bool = False) -> None:
        """Put the functions first in `module`, or, if they are many, the text of them `apart`."""
        block = module.regions[0].blocks[0]
        if not apart or len(self.texts) < _WORTH_IT:
            kernels = ir.Module.parse("\n".join(self.texts), module.context)
            for function in list(kernels.body.operations):
                function.operation.clone(ip=ir.InsertionPoint.at_block_begin(block))
            return
        held = kernels_apart(module)
        text = "\n".join([held, *(each for each in self.texts if each not in held)])
        with ir.InsertionPoint.at_block_begin(block), ir.Location.unknown(module.context):
            for name, types in self._called.items():
                # Public there, else symbol DCE would erase it.
                text = text.replace(f"func.func private @{name}(", f"func.func @{name}(", 1)
                func.FuncOp(name, ir.FunctionType.get(types, []), visibility="private")
            module.attributes[APART] = ir.StringAttr.get(text)


def kernels_apart(module: ir.Operation) -> str:
    """The text of the kernels that `module` only declares."""
    held = module.attributes.get(APART)
    return "" if held is None else ir.StringAttr(held).value


def is_kernel(op: ir.Operation) -> bool:
    """Whether `op` is the function of a kernel."""
    return op.name == "func.func" and all(each in op.attributes for each in _MARK)


def symbols_of(module: ir.Operation) -> set[str]:
    """The names that are taken in `module`."""
    attributes = [op.operation.attributes for op in module.regions[0].blocks[0]]
    names = {ir.StringAttr(each["sym_name"]).value for each in attributes if "sym_name" in each}
    return names.union(_DEFINED.findall(kernels_apart(module)))


def start_of(buffer: ir.Value) -> ir.Value:
    """The base of `buffer` as a memref of one element, so that one function takes all sizes."""
    type_ = ir.MemRefType.get([1], buffer.type.element_type)
    return memref.reinterpret_cast(type_, buffer, [], [], [], [0], [1], [1])


def scratch(size: int) -> ir.Value:
    """A scratch buffer of so many bytes, aligned to a cache line, as a memref of one element."""
    type_ = ir.MemRefType.get([size], ir.IntegerType.get_signless(8))
    return start_of(memref.alloc(type_, [], [], alignment=64))
