"""What a package shows: a designed list, each name explained, each example true. (Ruff keeps the lists sorted.)"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import types
from pathlib import Path

import pytest

from tests.repo.house import PACKAGE, list_python_files, module_of, name_of, read_tree

FACES = [path for path in list_python_files("src/playhead") if path.name in ("__init__.py", "errors.py")]
EVERY_MODULE = [path for path in list_python_files("src") if path.name != "__main__.py"]


def load(path: Path) -> types.ModuleType:
    """The module of a source file, or a skipped test where a library that it adapts is not installed."""
    try:
        return importlib.import_module(module_of(path))
    except ModuleNotFoundError as error:
        if error.name and not error.name.startswith("playhead"):
            pytest.skip(f"{error.name} is not installed")
        raise


@pytest.mark.parametrize("path", FACES, ids=name_of)
def test_a_package_says_what_it_is_and_what_it_shows(path: Path) -> None:
    module = load(path)
    assert module.__doc__, "the docstring that says what the package is for"
    assert isinstance(module.__all__, list)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("path", FACES, ids=name_of)
def test_a_package_lists_every_public_name_of_its_own(path: Path) -> None:
    bound: set[str] = set()
    for node in read_tree(path).body:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith(module_of(path)):
                bound |= {name.asname or name.name for name in names}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                bound.add(name)
    assert {name for name in bound if not name.startswith("_")} - set(load(path).__all__) == set()


@pytest.mark.parametrize("path", FACES, ids=name_of)
def test_a_public_name_has_a_docstring(path: Path) -> None:
    module = load(path)
    silent = []
    for name in module.__all__:
        value = getattr(module, name)
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        # A generated docstring ("Name(field, …)") repeats the signature and says nothing.
        doc = (value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__) or ""
        if not doc.strip() or doc.startswith(f"{name}("):
            silent.append(name)
    assert silent == []


@pytest.mark.parametrize("path", EVERY_MODULE, ids=name_of)
def test_the_examples_in_docstrings_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if ">>>" not in path.read_text(encoding="utf-8"):
        return
    monkeypatch.chdir(tmp_path)
    assert (
        doctest.testmod(
            load(path), extraglobs={"tmp": tmp_path}, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        ).failed
        == 0
    )


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
