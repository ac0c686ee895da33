"""Emits kernels as MLIR text, which parses faster than ops are built through the bindings."""

import contextlib
from collections.abc import Iterator, Sequence

Argument = tuple[str, str]
"""A value and its type."""


class KernelText:
    """The body of one function: constants first, so that they dominate every use."""

    def __init__(self) -> None:
        self._constants: dict[str, str] = {}
        self._lines: list[str] = []
        self._count = 0

    def value(self, operation: str) -> str:
        """The name given to the one result of `operation`."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"{name} = {operation}")
        return name

    def line(self, text: str) -> None:
        self._lines.append(text)

    def constant(self, literal: str) -> str:
        """A constant, such as `4 : index` or `dense<0> : vector<8xi32>`."""
        return self._constants.setdefault(literal, f"%c{len(self._constants)}")

    def index(self, number: int) -> str:
        return self.constant(f"{number} : index")

    def zeros(self, lanes: int, element: str = "f32") -> str:
        return self.constant(
            f"dense<{'0.0' if element[0] != 'i' else 0}> : vector<{lanes}x{element}>"
        )

    def add(self, left: str, right: str | int) -> str:
        if isinstance(right, int):
            if right == 0:
                return left
            right = self.index(right)
        return self.value(f"arith.addi {left}, {right} overflow<nsw, nuw> : index")

    def mul(self, left: str, right: str | int) -> str:
        if isinstance(right, int):
            if right == 1:
                return left
            right = self.index(right)
        return self.value(f"arith.muli {left}, {right} overflow<nsw, nuw> : index")

    def sub(self, left: str, right: str) -> str:
        return self.value(f"arith.subi {left}, {right} : index")

    def div(self, left: str, right: int) -> str:
        return self.value(f"arith.divui {left}, {self.index(right)} : index")

    def rem(self, left: str, right: int) -> str:
        return self.value(f"arith.remui {left}, {self.index(right)} : index")

    def minimum(self, left: str, right: str) -> str:
        return self.value(f"arith.minsi {left}, {right} : index")

    def rounded_down(self, number: str, step: int) -> str:
        return self.sub(number, self.rem(number, step))

    def rounded_up(self, number: str, step: int) -> str:
        return self.rounded_down(self.add(number, step - 1), step)

    def divided_up(self, number: str, step: int) -> str:
        return self.div(self.add(number, step - 1), step)

    @contextlib.contextmanager
    def loop(self, low: str, high: str, step: str, attributes: str = "") -> Iterator[str]:
        """An `scf.for` without results; yields its induction variable."""
        self._count += 1
        name = f"%i{self._count}"
        self._lines.append(f"scf.for {name} = {low} to {high} step {step} {{")
        yield name
        self._lines.append(_end(attributes))

    @contextlib.contextmanager
    def fold(
        self,
        low: str,
        high: str,
        step: str,
        starts: Sequence[str],
        types: Sequence[str],
        attributes: str = "",
        counter: str = "index",
    ) -> Iterator[tuple[str, list[str], list[str]]]:
        """An `scf.for` with loop-carried values (`iter_args`).

        Yields its induction variable, of the type `counter`, the list of carried values, which the
        body updates in place, and the names of the results.
        """
        if not starts:
            with self.loop(low, high, step, attributes) as name:
                yield name, [], []
            return
        self._count += 1
        name, result = f"%i{self._count}", f"%r{self._count}"
        carried = [f"%x{self._count}_{i}" for i in range(len(starts))]
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(carried, starts, strict=True))
        type_list = ", ".join(types)
        of_counter = "" if counter == "index" else f" : {counter}"
        self._lines.append(
            f"{result}:{len(starts)} = scf.for {name} = {low} to {high} step {step}"
            f" iter_args({pairs}) -> ({type_list}){of_counter} {{"
        )
        yield name, carried, [f"{result}#{i}" for i in range(len(starts))]
        self._lines += [f"scf.yield {', '.join(carried)} : {type_list}", _end(attributes)]

    def call(self, name: str, arguments: Sequence[Argument]) -> None:
        """Call a function without results."""
        values = ", ".join(value for value, _ in arguments)
        types = ", ".join(type_ for _, type_ in arguments)
        self._lines.append(f"func.call @{name}({values}) : ({types}) -> ()")

    @contextlib.contextmanager
    def when(self, condition: str) -> Iterator[None]:
        self._lines.append(f"scf.if {condition} {{")
        yield
        self._lines.append("}")

    def otherwise(self) -> None:
        """Inside `when`: begin the else region."""
        self._lines.append("} else {")

    def function(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]],
        attributes: str = "",
        result: Argument | None = None,
    ) -> str:
        """The whole private function, which is never inlined; `attributes` end in commas."""
        signature = ", ".join(f"{name}: {type_}" for name, type_ in parameters)
        returns = "" if result is None else f" -> {result[1]}"
        value = "" if result is None else f" {result[0]} : {result[1]}"
        constants = [f"{name} = arith.constant {text}" for text, name in self._constants.items()]
        return "\n".join(
            [
                f"func.func private @{name}({signature}){returns} attributes {{{attributes}"
                "llvm.no_inline, no_inline, llvm.linkage = #llvm.linkage<internal>} {",
                *constants,
                *self._lines,
                f"return{value}\n}}",
            ]
        )


def _end(attributes: str) -> str:
    return f"}} {{{attributes}}}" if attributes else "}"
