"""Random nested loops and branches over loop-carried tensors of one shape."""

from collections.abc import Sequence

import numpy as np

SHAPE = (6,)
TENSOR = "tensor<6xi32>"
PAIR = "tensor<2xi32>"
COUNT = "tensor<i32>"


class LoopProgram:
    """StableHLO text of a function of four tensors, as `text`; it gives three."""

    def __init__(self, rng: np.random.Generator, name: str) -> None:
        self._rng = rng
        self._names = 0
        arguments = [f"%x{place}" for place in range(4)]
        lines, results = self._loop(arguments, depth=0)
        parameters = ", ".join(f"{argument}: {TENSOR}" for argument in arguments)
        types = ", ".join([TENSOR] * 3)
        newline = "\n"
        self.text = f"""func.func @{name}({parameters}) -> ({types}) {{
          %zero = stablehlo.constant dense<0> : {COUNT}
          %one = stablehlo.constant dense<1> : {COUNT}
          %k = stablehlo.constant dense<[3, 1, 4, 1, 5, 9]> : {TENSOR}
          {newline.join(lines)}
          return {", ".join(results)} : {types}
        }}"""

    def _name(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _loop(self, values: Sequence[str], depth: int) -> tuple[list[str], list[str]]:
        count, name, limit, turn = (self._name() for _ in range(4))
        carried = [self._name() for _ in range(3)]
        inits = self._choose(values, 3)
        types = ", ".join([COUNT, *[TENSOR] * 3])
        pairs = [f"{a} = {b}" for a, b in zip([turn, *carried], ["%zero", *inits], strict=True)]
        next_turn, condition = self._name(), self._name()
        body, results = self._block([*values, *carried], 3, depth, turn)
        return [
            f"{limit} = stablehlo.constant dense<{self._rng.integers(0, 5)}> : {COUNT}",
            f"{name}:4 = stablehlo.while({', '.join(pairs)}) : {types} cond {{",
            f"{condition} = stablehlo.compare LT, {turn}, {limit}"
            f" : ({COUNT}, {COUNT}) -> tensor<i1>",
            f"stablehlo.return {condition} : tensor<i1>",
            "} do {",
            f"{next_turn} = stablehlo.add {turn}, %one : {COUNT}",
            *body,
            f"stablehlo.return {', '.join([next_turn, *results])} : {types}",
            "}",
            f"{count} = stablehlo.add {name}#0, %one : {COUNT}",
        ], [f"{name}#{place}" for place in (1, 2, 3)]

    def _branch(self, values: Sequence[str], depth: int, turn: str) -> tuple[list[str], list[str]]:
        name = self._name()
        count = int(self._rng.integers(1, 4))
        kind = f"({COUNT}) -> ({', '.join([TENSOR] * count)})"
        lines, selector, sides = [], turn, int(self._rng.integers(1, 4))
        op = "case"
        if self._rng.random() < 0.5:
            op, sides, selector = "if", 2, self._name()
            kind = kind.replace(COUNT, "tensor<i1>", 1)
            compare = f"stablehlo.compare GT, {turn}, %one : ({COUNT}, {COUNT}) -> tensor<i1>"
            lines.append(f"{selector} = {compare}")
        lines.append(f'{name}:{count} = "stablehlo.{op}"({selector}) ({{')
        for side in range(sides):
            body, results = self._block(values, count, depth, turn)
            types = ", ".join([TENSOR] * count)
            lines += [*body, f"stablehlo.return {', '.join(results)} : {types}"]
            lines.append("}, {" if side < sides - 1 else f"}}) : {kind}")
        return lines, [f"{name}#{place}" for place in range(count)]

    def _block(
        self, values: Sequence[str], results: int, depth: int, turn: str
    ) -> tuple[list[str], list[str]]:
        lines: list[str] = []
        known = [*values, "%k"]
        for _ in range(self._rng.integers(0, 4)):
            kind = self._rng.choice(["add", "reverse", "update", "slice", "branch", "loop"])
            if kind == "branch" and depth < 3:
                more, made = self._branch(known, depth + 1, turn)
            elif kind == "loop" and depth < 2:
                more, made = self._loop(known, depth + 1)
            else:
                more, made = self._op(known, kind, turn)
            lines += more
            known += made
        # What is new, or carried innermost, is more telling than what is far out.
        return lines, self._choose(known[-6:] if self._rng.random() < 0.8 else known, results)

    def _op(self, known: Sequence[str], kind: str, turn: str) -> tuple[list[str], list[str]]:
        a, b = self._choose(known, 2)
        name, part = self._name(), self._name()
        sliced = f"{part} = stablehlo.slice {b} [1:3] : ({TENSOR}) -> {PAIR}"
        match kind:
            case "reverse":
                lines = [f"{name} = stablehlo.reverse {a}, dims = [0] : {TENSOR}"]
            case "update":
                lines = [
                    sliced,
                    f"{name} = stablehlo.dynamic_update_slice {a}, {part}, {turn}"
                    f" : ({TENSOR}, {PAIR}, {COUNT}) -> {TENSOR}",
                ]
            case "slice":
                lines = [
                    sliced,
                    f"{name} = stablehlo.pad {part}, %one, low = [1], high = [3], interior = [0]"
                    f" : ({PAIR}, {COUNT}) -> {TENSOR}",
                ]
            case _:
                lines = [f"{name} = stablehlo.add {a}, {b} : {TENSOR}"]
        return lines, [name]

    def _choose(self, values: Sequence[str], count: int) -> list[str]:
        return [values[int(self._rng.integers(len(values)))] for _ in range(count)]


def module_text(seeds: Sequence[int]) -> str:
    """One module whose `main` calls the programs of `seeds` on its four arguments."""
    functions, calls, returned = [], [], []
    for seed in seeds:
        functions.append(LoopProgram(np.random.default_rng(seed), f"f{seed}").text)
        kind = f"({', '.join([TENSOR] * 4)}) -> ({', '.join([TENSOR] * 3)})"
        calls.append(f"%r{seed}:3 = call @f{seed}(%x0, %x1, %x2, %x3) : {kind}")
        returned += [f"%r{seed}#{place}" for place in range(3)]
    types = ", ".join([TENSOR] * len(returned))
    newline = "\n"
    parameters = ", ".join(f"%x{place}: {TENSOR}" for place in range(4))
    return f"""{newline.join(functions)}
    func.func @main({parameters}) -> ({types}) {{
      {newline.join(calls)}
      return {", ".join(returned)} : {types}
    }}"""
