"""What mkdocs needs beside the pages: README as the first one, and the files that pages link to.

Pages are written to be read in the repository, where they link to source files and folders. On the
site each of these is a page of its own, below source/.
"""

import re
from pathlib import Path
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
LANGUAGES = {".py": "python", ".mlir": "text", ".cmake": "cmake", ".c": "c"}
START = "index.md"


def on_files(files: Files, config: Any) -> Files:
    """README and the linked sources join the pages."""
    files.append(File.generated(config, START, content=(ROOT / "README.md").read_text()))
    linked = {
        target
        for file in files.documentation_pages()
        for target in _targets(file.content_string, _home(file.src_uri))
        if not target.startswith("docs") and target != "README.md"
    }
    for target in sorted(linked):
        files.append(File.generated(config, _source_page(target), content=_source(target, linked)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links as they are in the repository become links between the site's pages."""
    uri = page.file.src_uri
    if uri.startswith("source/"):
        return markdown
    home = _home(uri)
    return LINK.sub(lambda link: _site_link(link, home, uri), markdown)


def _home(uri: str) -> str:
    """The folder in the repository of a page of the site."""
    return "." if uri == START else normpath(f"docs/{uri}/..")


def _targets(markdown: str, home: str) -> list[str]:
    return [normpath(f"{home}/{path}") for path, _ in LINK.findall(markdown)]


def _site_link(link: re.Match[str], home: str, uri: str) -> str:
    target = normpath(f"{home}/{link[1]}")
    if target == "docs":
        page, anchor = START, ""
    elif target.startswith("docs/"):
        page, anchor = target.removeprefix("docs/"), link[2] or ""
    else:
        page, anchor = _source_page(target), ""
    return f"]({relpath(page, str(Path(uri).parent))}{anchor})"


def _source_page(target: str) -> str:
    return START if target == "README.md" else f"source/{target}.md"


def _source(target: str, linked: set[str]) -> str:
    """A page with a file's text, or with the names of what is in a folder."""
    path = ROOT / target
    if not path.exists():
        raise FileNotFoundError(f"a page links to {target}, which is not there")
    head = f"---\nsearch: {{exclude: true}}\n---\n# `{target}`\n\n"
    if path.is_file():
        fence = "`" * 8
        language = LANGUAGES.get(path.suffix, "text")
        return f"{head}{fence}{language}\n{path.read_text()}\n{fence}\n"
    names = sorted(each.name for each in path.iterdir() if not each.name.startswith(("__", ".")))
    return head + "\n".join(_entry(target, name, linked) for name in names) + "\n"


def _entry(folder: str, name: str, linked: set[str]) -> str:
    page = f"{folder}/{name}"
    if page not in linked:
        return f"- `{name}`"
    return f"- [`{name}`]({relpath(_source_page(page), f'source/{folder}/..')})"
