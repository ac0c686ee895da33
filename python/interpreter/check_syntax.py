"""The `check` dialect of StableHLO's tests: its text, rewritten to custom calls that all can parse.

`check.expect_eq %a, %b : tensor<2xf32>` becomes a `stablehlo.custom_call` with `check.expect_eq` as
its target, and what was written beside the operands as attributes. Lines stay where they were.
"""

import re
from dataclasses import dataclass

_OP = re.compile(
    r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|\bcheck\.(?P<op>expect_\w+)(?=\s*%)"  # comments, strings, ops
)
_OPERAND = re.compile(r"\s*,?\s*(%[\w.$#-]+)")
_SETTING = re.compile(
    r"\s*,\s*(tolerance|min_ulp_difference|max_ulp_difference|probe_id|iter)\s*=\s*"
    r"(\"(?:[^\"\\\n]|\\.)*\"|[-+.\w]+)(?:\s*:\s*([fi]\d+))?"
)
_COMMA, _COLON, _BRACE = re.compile(r"\s*,\s*"), re.compile(r"\s*:\s*"), re.compile(r"[ \t]*\{")
_ENTRY = re.compile(r",\s*(?=\w+\s*=)")
_OPENING, _CLOSING = "<[({", ">])}"


def check_ops_to_custom_calls(text: str) -> str:
    """`text` with every op of the check dialect as a `stablehlo.custom_call`."""
    pieces: list[str] = []
    done = 0
    for match in _OP.finditer(text):
        if match["op"] is None or match.start() < done:
            continue
        reader = _Reader(text, match.end())
        call = _custom_call(match["op"], reader)
        if call is None:
            continue
        line_breaks = "\n" * text.count("\n", match.start(), reader.position)
        pieces += [text[done : match.start()], call.replace("\n", " "), line_breaks]
        done = reader.position
    return "".join([*pieces, text[done:]])


@dataclass
class _Reader:
    text: str
    position: int

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return match

    def take_balanced(self) -> str:
        """An attribute or a type: a word and its brackets."""
        start, depth = self.position, 0
        while self.position < len(self.text):
            character = self.text[self.position]
            if character in _OPENING:
                depth += 1
            elif character in _CLOSING:
                depth -= 1
            elif depth == 0 and not (character.isalnum() or character in "_.!#"):
                break
            if depth < 0:
                break
            self.position += 1
            if depth == 0 and character in _CLOSING:
                break
        return self.text[start : self.position]


def _custom_call(op: str, reader: _Reader) -> str | None:
    """The custom call for the op whose operands come next; None where they are not well formed."""
    operands: list[str] = []
    attributes = [f'call_target_name = "check.{op}"', "has_side_effect = true", "check.op"]
    types: list[str] = []
    while operand := reader.take(_OPERAND):
        operands.append(operand[1])
    while setting := reader.take(_SETTING):
        key, value, type_ = setting.groups()
        type_ = type_ or ("f64" if key == "tolerance" else None)
        attributes.append(f"check.{key} = {value}" + (f" : {type_}" if type_ else ""))
    if op.endswith("_const"):
        if not reader.take(_COMMA):
            return None
        value = reader.take_balanced()
        if not reader.take(_COLON):
            return None
        types.append(reader.take_balanced())
        attributes.append(f"check.value = {value} : {types[0]}")
    if _BRACE.match(reader.text, reader.position):
        reader.position = reader.text.index("{", reader.position)
        entries = _ENTRY.split(reader.take_balanced().strip("{} "))
        attributes += [f"check.{entry}" for entry in entries if entry]
    if not op.endswith("_const"):
        while reader.take(_COMMA if types else _COLON):
            types.append(reader.take_balanced())
    if not types:
        return None
    types += types[-1:] * (len(operands) - len(types))
    return (
        f'"stablehlo.custom_call"({", ".join(operands)}) {{{", ".join(attributes)}}} : '
        f"({', '.join(types)}) -> ()"
    )
