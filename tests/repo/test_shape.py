"""The shape of files and functions, and what they are called."""

from __future__ import annotations

import ast
import re

from tests.repo.house import PACKAGE, list_python_files, name_of, read_tree, walk_functions

FILE_LINES = 400
FUNCTION_LINES = 60
EVERYWHERE = ("src", "tests", "scripts", "benchmarks", "examples")
DRAWERS = re.compile(r"_*(utils?|helpers?|common|misc)")
OPEN_FILES = {"__init__.py", "__main__.py", "errors.py"}


def test_a_file_stays_under_400_lines() -> None:
    lengths = {
        name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in list_python_files(*EVERYWHERE)
    }
    assert {name: length for name, length in lengths.items() if length >= FILE_LINES} == {}


def test_a_function_stays_under_60_lines() -> None:
    long = {}
    for path in list_python_files("src", "scripts", "benchmarks"):
        for node in walk_functions(path):
            if (length := (node.end_lineno or node.lineno) - node.lineno + 1) >= FUNCTION_LINES:
                long[f"{name_of(path)}:{node.lineno} {node.name}"] = length
    assert long == {}


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    everything = [path for top in EVERYWHERE for path in (PACKAGE.parent.parent / top).rglob("*")]
    assert [name_of(path) for path in everything if DRAWERS.fullmatch(path.stem)] == []


def test_an_implementation_file_starts_with_an_underscore() -> None:
    open_files = [path for path in PACKAGE.rglob("*.py") if not path.name.startswith("_")]
    exempt = {PACKAGE / "integrations", PACKAGE / "testing" / "demo", PACKAGE / "_program" / "startup"}
    assert [name_of(path) for path in open_files if path.name not in OPEN_FILES and path.parent not in exempt] == []


def test_nothing_is_left_for_later() -> None:
    """No stub that calls itself done: no ``TODO``, no ``assert False``, no body that only says "not implemented"."""
    left = []
    for path in list_python_files("src", "scripts", "benchmarks"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
                left.append(f"{name_of(path)}:{number}")
        for node in ast.walk(read_tree(path)):
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant):
                left.append(f"{name_of(path)}:{node.lineno}")
            if isinstance(node, ast.Raise) and node.exc and "NotImplementedError" in ast.unparse(node.exc):
                left.append(f"{name_of(path)}:{node.lineno}")
    assert left == []
