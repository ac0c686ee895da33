"""The page of a report: well-formed, self-contained, with the documented JSON in it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.reporting.report import Report

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "report.md"
TEXT = """func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.convert %a : (tensor<64xf32>) -> tensor<64xf8E4M3FN>
  %1 = stablehlo.bitcast_convert %0 : (tensor<64xf8E4M3FN>) -> tensor<64xi8> loc("NAME")
  %2 = stablehlo.bitcast_convert %1 : (tensor<64xi8>) -> tensor<64xf8E4M3FN> loc("NAME")
  %3 = stablehlo.convert %2 : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}"""
VOID = {"meta", "input", "line", "link", "br"}


class Page(HTMLParser):
    """Elements as they open and close; whatever does not close is an error."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        name = self.open[-1] if self.open else ""
        if name == "script" and self.tags[-1][1].get("type") == "application/json":
            name = "json"
        self.text[name] = self.text.get(name, "") + data


@pytest.fixture(scope="module")
def found() -> Report:
    array = np.random.default_rng(0).standard_normal(64).astype(np.float32) * 300
    return mlir_fp8.report(TEXT.replace("NAME", "</script><b>&amp;'"), array)


@pytest.fixture(scope="module")
def html(found: Report) -> str:
    return found.to_html()


def test_page_is_well_formed_and_holds_the_json(found: Report, html: str) -> None:
    page = Page(html)
    assert json.loads(page.text["json"]) == json.loads(found.to_json())
    rows = [attributes["id"] for tag, attributes in page.tags if tag == "tr" and "id" in attributes]
    assert sorted(rows, key=str) == [f"v{index}" for index in range(len(found.values))]
    assert "b" not in [tag for tag, _ in page.tags[page.tags.index(("main", {})) :]]
    assert "</script><b>&amp;'" in page.text["td"]


def test_page_loads_nothing(html: str) -> None:
    for tag, attributes in Page(html).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not {"src", "href", "srcset", "action", "style"} & attributes.keys()
        assert not any(key.startswith("on") for key in attributes)
    # The name of a namespace, which nothing is loaded from.
    addresses = set(re.findall(r"\w+://[^\"'\s<]*", html))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import|\bimport\(|fetch\(|XMLHttpRequest", html)


def test_page_can_be_used_by_keyboard_and_in_the_dark(html: str) -> None:
    page = Page(html)
    clickable = {"button", "input", "select", "option", "form", "output", "label"}
    assert clickable <= {tag for tag, _ in page.tags}
    headers = [attributes for tag, attributes in page.tags if tag == "th"]
    assert all("scope" in attributes for attributes in headers)
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(pictures) == 2
    assert all(picture["role"] == "img" and picture["aria-label"] for picture in pictures)
    assert "prefers-color-scheme: dark" in html


def _keys(value: Any, path: str) -> set[str]:
    if isinstance(value, dict):
        keys = {f"{path}.{key}" if path else key: item for key, item in value.items()}
        if path == "formats":
            keys = {f"formats.*{index}": item for index, item in enumerate(keys.values())}
        return {found for key, item in keys.items() for found in _keys(item, key)}
    if isinstance(value, list):
        return {found for item in value for found in _keys(item, f"{path}[]")} or {f"{path}[]"}
    return {path}


def test_documented_keys_are_the_actual_ones(found: Report) -> None:
    rows = re.findall(r"^\| (`.*?) \|", DOCUMENT.read_text(), re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`([^`]+)`", row)}
    actual = _keys(json.loads(found.to_json()), "")
    assert documented == {re.sub(r"\*\d+", "*", key) for key in actual}


def test_no_number_is_shown_as_zero_that_is_not() -> None:
    array = np.full(200_001, 3.0, np.float32)
    array[0] = 1e-9
    text = TEXT.replace("64x", "200001x").replace("NAME", "x")
    rows = mlir_fp8.report(text, array).to_html().split("<tr id=")
    assert "&lt;0.01" in next(row for row in rows if row.startswith('"v1"'))
