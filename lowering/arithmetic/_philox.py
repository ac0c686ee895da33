"""Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) as XLA counts.

The state is a 64-bit key and a 128-bit counter, low word first. Each counter gives four words.
"""

import math

from torch_mlir import ir

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10


class _Lines:
    """64-bit ops on one vector of counters; words are 32 bits in 64."""

    def __init__(self, blocks: int) -> None:
        self.kind = f"tensor<{blocks}xui64>"
        self.lines: list[str] = []

    def emit(self, text: str) -> str:
        name = f"%p{len(self.lines)}"
        self.lines.append(f"{name} = stablehlo.{text}")
        return name

    def op(self, name: str, left: str, right: str) -> str:
        return self.emit(f"{name} {left}, {right} : {self.kind}")

    def constant(self, number: int) -> str:
        return self.emit(f"constant dense<{number}> : {self.kind}")

    def low(self, value: str) -> str:
        return self.op("and", value, self.constant(0xFFFFFFFF))

    def high(self, value: str) -> str:
        return self.op("shift_right_logical", value, self.constant(32))

    def word(self, state: str, index: int) -> str:
        """One word of the state, broadcast."""
        one = "tensor<1xui64>"
        cut = self.emit(f"slice {state} [{index}:{index + 1}] : (tensor<3xui64>) -> {one}")
        flat = self.emit(f"reshape {cut} : ({one}) -> tensor<ui64>")
        return self.emit(f"broadcast_in_dim {flat}, dims = [] : (tensor<ui64>) -> {self.kind}")


def philox_program(op: ir.Operation) -> str:
    """The text of `rng_bit_generator`, PHILOX with a state of three words, of integers."""
    result = ir.RankedTensorType(op.results[1].type)
    element, count = str(result.element_type), math.prod(result.shape)
    width = int(element.removeprefix("u").removeprefix("i"))
    words = 2 * count if width == 64 else count
    blocks = -(-words // 4)
    lines = _Lines(blocks)
    key, low, high = (lines.word("%state", index) for index in range(3))
    index = lines.emit(f"iota dim = 0 : {lines.kind}")
    low, high = _sum(lines, low, high, index)
    columns = [
        lines.emit(f"reshape {each} : ({lines.kind}) -> tensor<{blocks}x1xui64>")
        for each in _rounds(lines, key, low, high)
    ]
    flat = _concatenated(lines, columns, blocks)
    cut = lines.emit(
        f"slice {flat} [0:{words}] : (tensor<{4 * blocks}xui64>) -> tensor<{words}xui64>"
    )
    bits = _narrowed(lines, cut, count, width)
    own = f"tensor<{count}xui{width}>"
    if element != f"ui{width}":
        bits = lines.emit(f"bitcast_convert {bits} : ({own}) -> tensor<{count}x{element}>")
        own = f"tensor<{count}x{element}>"
    shaped = lines.emit(f"reshape {bits} : ({own}) -> {result}")
    state = _next_state(lines, blocks)
    body = "\n".join(lines.lines)
    return f"""func.func @philox(%state: tensor<3xui64>) -> (tensor<3xui64>, {result}) {{
      {body}
      return {state}, {shaped} : tensor<3xui64>, {result}
    }}"""


def _sum(lines: _Lines, low: str, high: str, step: str) -> tuple[str, str]:
    """The 128-bit counter, `step` further."""
    total = lines.op("add", low, step)
    mask = lines.kind.replace("ui64", "i1")
    carry = lines.emit(f"compare LT, {total}, {low} : ({lines.kind}, {lines.kind}) -> {mask}")
    carry = lines.emit(f"convert {carry} : ({mask}) -> {lines.kind}")
    return total, lines.op("add", high, carry)


def _rounds(lines: _Lines, key: str, low: str, high: str) -> list[str]:
    words = [lines.low(low), lines.high(low), lines.low(high), lines.high(high)]
    keys = [lines.low(key), lines.high(key)]
    factors = [lines.constant(number) for number in _MULTIPLIERS]
    for _ in range(_ROUNDS):
        first = lines.op("multiply", words[0], factors[0])
        second = lines.op("multiply", words[2], factors[1])
        words = [
            lines.op("xor", lines.op("xor", lines.high(second), words[1]), keys[0]),
            lines.low(second),
            lines.op("xor", lines.op("xor", lines.high(first), words[3]), keys[1]),
            lines.low(first),
        ]
        keys = [
            lines.low(lines.op("add", each, lines.constant(step)))
            for each, step in zip(keys, _WEYL, strict=True)
        ]
    return words


def _concatenated(lines: _Lines, columns: list[str], blocks: int) -> str:
    types = ", ".join([f"tensor<{blocks}x1xui64>"] * 4)
    joined = f"tensor<{blocks}x4xui64>"
    rows = lines.emit(f"concatenate {', '.join(columns)}, dim = 1 : ({types}) -> {joined}")
    return lines.emit(f"reshape {rows} : ({joined}) -> tensor<{4 * blocks}xui64>")


def _narrowed(lines: _Lines, words: str, count: int, width: int) -> str:
    """Words to `count` numbers of `width` bits: the low bits of one word, or two words."""
    kind = f"tensor<{count}xui64>"
    if width == 64:
        pairs = lines.emit(
            f"reshape {words} : (tensor<{2 * count}xui64>) -> tensor<{count}x2xui64>"
        )
        cuts = [
            lines.emit(
                f"slice {pairs} [0:{count}, {half}:{half + 1}]"
                f" : (tensor<{count}x2xui64>) -> tensor<{count}x1xui64>"
            )
            for half in range(2)
        ]
        low, high = (
            lines.emit(f"reshape {cut} : (tensor<{count}x1xui64>) -> {kind}") for cut in cuts
        )
        places = lines.emit(f"constant dense<32> : {kind}")
        top = lines.emit(f"shift_left {high}, {places} : {kind}")
        return lines.emit(f"or {top}, {low} : {kind}")
    mask = lines.emit(f"constant dense<{(1 << width) - 1}> : {kind}")
    kept = lines.emit(f"and {words}, {mask} : {kind}")
    return lines.emit(f"convert {kept} : ({kind}) -> tensor<{count}xui{width}>")


def _next_state(lines: _Lines, blocks: int) -> str:
    one = _Lines(1)
    one.lines = lines.lines  # the same names go on
    key, low, high = (
        one.emit(f"slice %state [{index}:{index + 1}] : (tensor<3xui64>) -> {one.kind}")
        for index in range(3)
    )
    low, high = _sum(one, low, high, one.constant(blocks))
    types = ", ".join([one.kind] * 3)
    return one.emit(f"concatenate {key}, {low}, {high}, dim = 0 : ({types}) -> tensor<3xui64>")
