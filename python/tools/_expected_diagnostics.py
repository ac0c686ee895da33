"""`--verify-diagnostics`: the diagnostics that a test expects, written as comments in its input.

Syntax and wording of failures are MLIR's: `expected-error@+1 {{part of the message}}`; likewise
`-warning`, `-remark`, `-note`; `@above`, `@below`, `@-N`, `@unknown`; `-re` with `{{regex}}` in the
braces. One comment takes any number of equal diagnostics, as in MLIR; with a count before the
braces, as in Clang, exactly that many.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from mlir_fp8.base.source_place import Place
from mlir_fp8.tools._diagnostics import Report

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<where>[+-]\d+|above|below|unknown))? *(?P<count>\d+)? *\{\{(?P<text>.*)\}\}$"
)
_ATTEMPT = re.compile(r"expected-(error|note|remark|warning)\b.*\{\{")
_ANY_COUNT = 0


@dataclass
class _Expectation:
    severity: str
    text: str
    pattern: re.Pattern[str]
    place: Place | None
    """Where the comment stands; None for `@unknown`."""
    line: int
    """Where the diagnostic must stand."""
    count: int
    seen: int = 0

    def matches(self, report: Report) -> bool:
        return self.pattern.search(report.message) is not None

    def accepts_more(self) -> bool:
        return self.count == _ANY_COUNT or self.seen < self.count

    def is_met(self) -> bool:
        return self.seen == self.count if self.count else self.seen > 0


class ExpectedDiagnostics:
    """The expectations in one file or one of its chunks; `complain` gets every failure.

    With `only_expected`, diagnostics that nothing expects are ignored.
    """

    def __init__(
        self, text: str, file: str, complain: Callable[[Report], None], *, only_expected: bool
    ) -> None:
        self._file = file
        self._complain = complain
        self._only_expected = only_expected
        self._failed = False
        self._expectations = self._parse(text)

    def hear(self, report: Report) -> None:
        """Match one diagnostic against the expectations."""
        if report.is_operation:
            return
        near_miss: _Expectation | None = None
        for expectation in self._candidates(report):
            if expectation.severity != report.severity:
                near_miss = expectation
            elif expectation.accepts_more():
                expectation.seen += 1
                return
        if self._only_expected:
            return
        if near_miss is None:
            self._fail(report.place, f"unexpected {report.severity}: {report.message}")
            return
        self._fail(
            near_miss.place,
            f"'{report.severity}' diagnostic emitted when expecting a '{near_miss.severity}'",
        )

    def all_met(self) -> bool:
        """Report what was expected and did not come; whether there was no failure at all."""
        for expectation in self._expectations:
            if expectation.is_met():
                continue
            times = f" {expectation.count} times" if expectation.count else ""
            what = f'expected {expectation.severity} "{expectation.text}"'
            self._fail(expectation.place, f"{what} was not produced{times}")
        return not self._failed

    def _candidates(self, report: Report) -> list[_Expectation]:
        if report.place is None:
            here = [each for each in self._expectations if each.place is None]
        elif report.place.file == self._file:
            line = report.place.line
            here = [each for each in self._expectations if each.place and each.line == line]
        else:
            here = []
        return [each for each in here if each.matches(report)]

    def _fail(self, place: Place | None, message: str) -> None:
        self._failed = True
        self._complain(Report("error", place, message))

    def _parse(self, text: str) -> list[_Expectation]:
        found: list[_Expectation] = []
        for_next_line: list[_Expectation] = []
        last_plain_line = 1
        lines = text.split("\n")
        for number, line in enumerate(lines, start=1):
            match = _EXPECTED.search(line.rstrip())
            if match is None:
                attempt = _ATTEMPT.search(line)
                if attempt:
                    place = Place(self._file, number, attempt.start() + 1)
                    self._fail(place, "malformed expected-* comment")
                for expectation in for_next_line:
                    expectation.line = number
                for_next_line.clear()
                last_plain_line = number
                continue
            place = Place(self._file, number, match.start() + 1)
            where = match["where"] or "+0"
            pattern = self._pattern(match["text"], place, is_regex=bool(match["regex"]))
            if pattern is None:
                continue
            expectation = _Expectation(
                severity=match["severity"],
                text=match["text"],
                pattern=pattern,
                place=None if where == "unknown" else place,
                line=_line(where, number, last_plain_line, len(lines)),
                count=int(match["count"] or _ANY_COUNT),
            )
            if expectation.line < 1:
                self._fail(place, f"line offset '{where}' is before the start of the file")
                continue
            if where == "below":
                for_next_line.append(expectation)
            found.append(expectation)
        return found

    def _pattern(self, text: str, place: Place, *, is_regex: bool) -> re.Pattern[str] | None:
        if not is_regex:
            return re.compile(re.escape(text))
        pieces = re.split(r"\{\{(.*?)\}\}", text)
        if any("{{" in literal for literal in pieces[::2]):
            self._fail(place, "found start of regex with no end '}}'")
            return None
        # The pieces alternate: literal text, regex, literal text, ...
        source = [f"(?:{each})" if at % 2 else re.escape(each) for at, each in enumerate(pieces)]
        try:
            return re.compile("".join(source))
        except re.error as error:
            self._fail(place, f"invalid regex: {error}")
            return None


def _line(where: str, number: int, last_plain_line: int, last_line: int) -> int:
    if where == "above":
        return last_plain_line
    if where == "below":
        return last_line
    return number if where == "unknown" else number + int(where)
