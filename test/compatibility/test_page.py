"""docs/compatibility.md covers every release, and nothing failed that is not explained in it."""

import re

from page import KNOWN_FAULTS
from releases import RELEASES
from run import PAGE

ROW = re.compile(r"^\| (\d\S+) \|.*\| (\d+)/(\d+) \| (\d+)/(\d+) \|$", re.MULTILINE)


def test_page_has_every_release_and_only_known_failures() -> None:
    rows: list[tuple[str, ...]] = ROW.findall(PAGE.read_text())
    assert [row[0] for row in rows] == [release.jaxlib for release in RELEASES]
    faulty = {row[0] for row in rows if (row[1], row[3]) != (row[2], row[4])}
    assert faulty == {jaxlib for group in KNOWN_FAULTS for jaxlib in group.split()}
