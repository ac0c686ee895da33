"""Tensor types as the text of functions has them, and the ops that take parts of one."""

from dataclasses import dataclass

from torch_mlir import ir

INDEX = "tensor<i32>"


@dataclass(frozen=True)
class Tensor:
    shape: tuple[int, ...]
    element: str

    @classmethod
    def of(cls, value: ir.Value) -> "Tensor":
        type_ = ir.RankedTensorType(value.type)
        return cls(tuple(type_.shape), str(type_.element_type))

    def of_element(self, element: str) -> "Tensor":
        return Tensor(self.shape, element)

    def part(self, dimension: int, size: int) -> "Tensor":
        """With another size of a dimension."""
        shape = (*self.shape[:dimension], size, *self.shape[dimension + 1 :])
        return Tensor(shape, self.element)

    def without(self, dimension: int) -> "Tensor":
        shape = (*self.shape[:dimension], *self.shape[dimension + 1 :])
        return Tensor(shape, self.element)

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"

    def decoded(self, name: str, element: str) -> tuple[str, str, "Tensor"]:
        """The op that makes of %name one of `element`, its name and type; none where it is that."""
        wide = self.of_element(element)
        if wide == self:
            return "", f"%{name}", self
        new = f"%{name}_decoded"
        return f"{new} = stablehlo.convert %{name} : ({self}) -> {wide}", new, wide

    @property
    def zeros(self) -> str:
        zero = {"i": "0", "u": "0", "c": "(0.0, 0.0)"}.get(self.element[0], "0.0")
        return f"stablehlo.constant dense<{zero}> : {self}"

    def sliced(self, value: str, at: tuple[int, str], part: "Tensor") -> str:
        """The op: `part` of a value of this type, which begins at a value along one dimension."""
        return (
            f"stablehlo.dynamic_slice {value}, {self._starts(at)}, sizes = {list(part.shape)} :"
            f" ({self}, {', '.join([INDEX] * len(self.shape))}) -> {part}"
        )

    def updated(self, value: str, new: str, at: tuple[int, str], part: "Tensor") -> str:
        return (
            f"stablehlo.dynamic_update_slice {value}, {new}, {self._starts(at)} :"
            f" ({self}, {part}, {', '.join([INDEX] * len(self.shape))}) -> {self}"
        )

    def _starts(self, at: tuple[int, str]) -> str:
        return ", ".join(at[1] if d == at[0] else "%zero" for d in range(len(self.shape)))
