"""Where things are in this repository: what the checks of the house look at."""

from __future__ import annotations

import ast
import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
SRC = ROOT / "src"
PACKAGE = SRC / "playhead"
DOCS = ROOT / "docs"


def list_python_files(*folders: str) -> list[Path]:
    """The Python files below these folders of the repository."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def list_pages() -> list[Path]:
    """All Markdown pages: those of the docs, and those at the top."""
    return sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "changelog.d").glob("*.md")])


def list_texts() -> list[Path]:
    """Every text file that is part of the project, whatever it is written in."""
    code = list_python_files("src", "tests", "scripts", "benchmarks", "examples")
    others = [ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / ".ci" / "run", *(ROOT / "requirements").iterdir()]
    return [*code, *list_pages(), *others]


def name_of(path: Path) -> str:
    """The path from the top of the repository, for a failure that can be clicked on."""
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    """The dotted name that a source file is imported by."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def read_tree(path: Path) -> ast.Module:
    """The syntax tree of a file; each file is parsed once."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=name_of(path))


@functools.cache
def read_project() -> dict[str, Any]:
    """The content of `pyproject.toml`."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def walk_functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file, nested ones too."""
    for node in ast.walk(read_tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def walk_top_imports(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """The modules that are imported when a file is: name and line. What only a type checker reads does not count."""
    for node in body:
        match node:
            case ast.Import(names=names):
                yield from ((name.name, node.lineno) for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module, node.lineno
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                yield from walk_top_imports(node.orelse)
            case ast.If() | ast.Try() | ast.With() | ast.ClassDef():
                yield from walk_top_imports(
                    [child for child in ast.walk(node) if child is not node and is_import(child)]
                )


def is_import(node: ast.AST) -> bool:
    """Whether a node of a syntax tree is an import statement."""
    return isinstance(node, ast.Import | ast.ImportFrom)
