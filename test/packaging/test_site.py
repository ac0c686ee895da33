"""The site of docs/: it builds without a network, and no link in it is broken."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import mlir_fp8

ROOT = Path(__file__).parents[2]
# What `mkdocs build --strict` runs, in a process that cannot connect to anything.
BUILD = """
import socket, sys
def refuse(*arguments):
    raise OSError("the site asks for the network")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli(["build", "--strict", "--quiet", "--site-dir", sys.argv[1]])
"""


class Links(HTMLParser):
    """What a page links to and loads, and the places in it that others may link to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.places.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        self.loads += [values[name] for name in ("src",) if name in values]
        if tag == "link" and "href" in values:
            self.loads.append(values["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Links]:
    """Each page of the site, and its links."""
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package, reason="pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "")
    return {page: Links(page) for page in folder.rglob("*.html") if page.name != "404.html"}


@pytest.mark.exhaustive
def test_links_lead_somewhere(site: dict[Path, Links]) -> None:
    broken: list[str] = []
    for page, found in site.items():
        for link in (*found.links, *found.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.exists():
                broken.append(f"{page.name}: {link}")
            elif parts.fragment and target in site:
                place = unquote(parts.fragment)
                if place not in site[target].places:
                    broken.append(f"{page.name}: {link}: no such place")
    assert broken == []


@pytest.mark.exhaustive
def test_pages_load_nothing_from_elsewhere(site: dict[Path, Links]) -> None:
    loads = {load for found in site.values() for load in found.loads}
    assert [load for load in loads if urlsplit(load).scheme or urlsplit(load).netloc] == []


@pytest.mark.exhaustive
def test_every_page_and_public_name_is_there(site: dict[Path, Links]) -> None:
    pages = {page.name: found for page, found in site.items()}
    for page in (ROOT / "docs").glob("*.md"):
        assert f"{page.stem}.html" in pages
    places = pages["api.html"].places
    homes = [f"mlir_fp8.{name}" for name in mlir_fp8.__all__]
    assert [home for home in homes if home not in places] == []


def test_api_page_lists_every_public_name_once() -> None:
    listed = re.findall(r"^::: mlir_fp8\.(\w+)$", (ROOT / "docs" / "api.md").read_text(), re.M)
    assert sorted(listed) == sorted(mlir_fp8.__all__)


def test_every_page_has_its_place_in_the_menu() -> None:
    menu = re.findall(r": (\w+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    pages = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert sorted(menu) == sorted(["index.md", *pages])
