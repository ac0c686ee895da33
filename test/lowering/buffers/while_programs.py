"""Random loops whose results are partly unused, over values of several types.

They are what canonicalization rewrites: carried values that are invariant, permuted, duplicated,
read by the condition alone, or dead; in nested loops, in functions called twice.
"""

from collections.abc import Sequence

import numpy as np

SHAPES = {
    "tensor<6xi32>": (6,),
    "tensor<2x3xi8>": (2, 3),
    "tensor<3xf8E5M2>": (3,),
    "tensor<i32>": (),
    "tensor<f32>": (),
    "tensor<i1>": (),
}
COUNT, ROW = "tensor<i32>", "tensor<6xi32>"
Value = tuple[str, str]
"""A name and a type."""


class WhileProgram:
    """The text of a function of one value of each type, as `text`; it gives `results`, types."""

    def __init__(self, rng: np.random.Generator, name: str) -> None:
        self._rng = rng
        self._names = 0
        given = [(f"%x{place}", type_) for place, type_ in enumerate(SHAPES)]
        lines, made = self._loop(given, depth=0)
        # At times none of the loop's.
        chosen = self._some(made, int(rng.integers(0, 4))) or given[:1]
        self.results = [type_ for _, type_ in chosen]
        parameters = ", ".join(f"{value}: {type_}" for value, type_ in given)
        newline = "\n"
        self.text = f"""func.func private @{name}({parameters}) -> ({", ".join(self.results)}) {{
          %zero = stablehlo.constant dense<0> : {COUNT}
          %one = stablehlo.constant dense<1> : {COUNT}
          %nine = stablehlo.constant dense<9> : {COUNT}
          %four = stablehlo.constant dense<4> : {COUNT}
          {newline.join(lines)}
          return {_listed(chosen)}
        }}"""

    def _name(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _some(self, values: Sequence[Value], count: int) -> list[Value]:
        return [values[int(self._rng.integers(len(values)))] for _ in range(count)]

    def _loop(self, known: Sequence[Value], depth: int) -> tuple[list[str], list[Value]]:
        """Text of a loop, and its results but for the trip count."""
        inits = self._some(known, int(self._rng.integers(1, 6)))
        inits += self._some([each for each in known if each[1] in (COUNT, ROW)], 2)
        turn = self._name(), COUNT
        carried = [(self._name(), type_) for _, type_ in inits]
        limit, name = self._name(), self._name()
        place = int(self._rng.integers(0, len(inits) + 1))  # the counter's
        starts = [f"{new} = {old}" for (new, _), (old, _) in zip(carried, inits, strict=True)]
        starts.insert(place, f"{turn[0]} = %zero")
        types = [type_ for _, type_ in carried]
        types.insert(place, COUNT)
        tested, condition = self._condition(turn, carried, limit, depth)
        body, last = self._body([*known, *carried], carried, turn, depth)
        next_turn = self._name()
        last.insert(place, (next_turn, COUNT))
        lines = [
            f"{limit} = stablehlo.minimum %x3, %four : {COUNT}",
            f"{name}:{len(types)} = stablehlo.while({', '.join(starts)}) : {', '.join(types)}",
            "cond {",
            *tested,
            f"stablehlo.return {condition} : tensor<i1>",
            "} do {",
            *body,
            f"{next_turn} = stablehlo.add {turn[0]}, %one : {COUNT}",
            f"stablehlo.return {_listed(last)}",
            "}",
        ]
        made = [(f"{name}#{each}", type_) for each, type_ in enumerate(types) if each != place]
        return lines, made

    def _condition(
        self, turn: Value, carried: Sequence[Value], limit: str, depth: int
    ) -> tuple[list[str], str]:
        """The condition: a trip count, and often a carried value or the result of a nested loop."""
        left, small, both = (self._name() for _ in range(3))
        pair = f"({COUNT}, {COUNT}) -> tensor<i1>"
        lines = [f"{left} = stablehlo.compare LT, {turn[0]}, {limit} : {pair}"]
        read = list(carried)
        if depth < 2 and self._rng.random() < 0.15:
            more, read = self._loop([*read, turn], depth + 2)
            lines += more
        if self._rng.random() < 0.2:
            return lines, left
        bound, type_ = self._some([each for each in read if each[1] in (COUNT, ROW)], 1)[0]
        if type_ == ROW:
            first, number = self._name(), self._name()
            lines += [
                f"{first} = stablehlo.slice {bound} [2:3] : ({ROW}) -> tensor<1xi32>",
                f"{number} = stablehlo.reshape {first} : (tensor<1xi32>) -> {COUNT}",
            ]
            bound = number
        lines += [
            f"{small} = stablehlo.compare GT, %nine, {bound} : {pair}",
            f"{both} = stablehlo.and {small}, {left} : tensor<i1>",
        ]
        return lines, both

    def _body(
        self, known: list[Value], carried: Sequence[Value], turn: Value, depth: int
    ) -> tuple[list[str], list[Value]]:
        lines: list[str] = []
        if depth < 2 and self._rng.random() < 0.35:
            more, made = self._loop([*known, turn], depth + 1)
            lines, known = [*lines, *more], [*known, *made]
        last: list[Value] = []
        for value in carried:
            kind = self._rng.choice(["same", "other", "computed"], p=[0.3, 0.2, 0.5])
            if kind == "computed":
                more, value = self._computed(value, known)
                lines += more
            elif kind == "other":
                value = self._some([each for each in known if each[1] == value[1]], 1)[0]
            last.append(value)
        return lines, last

    def _computed(self, value: Value, known: Sequence[Value]) -> tuple[list[str], Value]:
        _, type_ = value
        a, b = (self._some([each for each in known if each[1] == type_], 1)[0][0] for _ in "ab")
        name = self._name()
        op = self._rng.choice(["add", "maximum", "select", "reverse"])
        text = f"stablehlo.{op} {a}, {b} : {type_}"
        if op == "select":
            bits = ["%x5", *(name for name, kind in known if kind == "tensor<i1>")]
            picks = bits[int(self._rng.integers(len(bits)))]
            text = f"stablehlo.select {picks}, {a}, {b} : tensor<i1>, {type_}"
        elif op == "reverse" and SHAPES[type_]:
            text = f"stablehlo.reverse {a}, dims = [0] : {type_}"
        elif op == "reverse":
            text = f"stablehlo.minimum {a}, {b} : {type_}"
        return [f"{name} = {text}"], (name, type_)


def _listed(values: Sequence[Value]) -> str:
    return f"{', '.join(n for n, _ in values)} : {', '.join(t for _, t in values)}"


def module_text(seeds: Sequence[int]) -> str:
    """One module whose `main` calls the programs of `seeds`, each twice with two counts."""
    functions, calls, returned = [], [], []
    arguments = [f"%x{place}" for place in range(len(SHAPES))]
    for seed in seeds:
        program = WhileProgram(np.random.default_rng(seed), f"f{seed}")
        functions.append(program.text)
        kind = f"({', '.join(SHAPES)}) -> ({', '.join(program.results)})"
        for call, count in enumerate(("%x3", "%nine")):
            given = ", ".join(count if each == "%x3" else each for each in arguments)
            name = f"%r{seed}_{call}"
            calls.append(f"{name}:{len(program.results)} = call @f{seed}({given}) : {kind}")
            returned += [(f"{name}#{i}", t) for i, t in enumerate(program.results)]
    parameters = ", ".join(f"{n}: {t}" for n, t in zip(arguments, SHAPES, strict=True))
    newline = "\n"
    return f"""{newline.join(functions)}
    func.func @main({parameters}) -> ({", ".join(t for _, t in returned)}) {{
      %nine = stablehlo.constant dense<9> : {COUNT}
      {newline.join(calls)}
      return {_listed(returned)}
    }}"""
