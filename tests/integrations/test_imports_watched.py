"""Being told of an import disturbs neither the import nor the module."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from playhead.boundary import Patches
from playhead.integrations._imports import when_imported


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"watched_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text("loads = globals().get('loads', 0) + 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_module_is_told_of_when_it_is_imported_and_looks_untouched(package: str) -> None:
    patches, told = Patches(), list[ModuleType]()
    when_imported(package, told.append, patches)
    assert package not in sys.modules
    module = importlib.import_module(package)
    assert told == [module]
    assert module.loads == 1
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"
    patches.undo()
    assert not any(type(finder).__module__ == "playhead.integrations._imports" for finder in sys.meta_path)


def test_a_module_that_is_imported_already_is_told_of_at_once_and_again_at_a_reload(package: str) -> None:
    module = importlib.import_module(package)
    patches, told = Patches(), list[ModuleType]()
    when_imported(package, told.append, patches)
    assert told == [module]
    importlib.reload(module)
    assert told == [module, module]
    patches.undo()
    importlib.reload(module)
    assert len(told) == 2
    assert module.loads == 3


def test_two_may_watch_the_same_module(package: str) -> None:
    patches, told = Patches(), list[str]()
    when_imported(package, lambda module: told.append("one"), patches)
    when_imported(package, lambda module: told.append("two"), patches)
    importlib.import_module(package)
    assert sorted(told) == ["one", "two"]
    patches.undo()


@pytest.mark.parametrize("before", [True, False])
def test_a_lazy_module_stays_lazy(package: str, before: bool) -> None:
    patches, told = Patches(), list[str]()

    def watch() -> None:
        when_imported(package, lambda module: told.append(f"{module.loads}"), patches)

    if before:
        watch()
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)
    if not before:
        watch()
    assert told == []
    assert module.loads == 1
    assert told == ["1"]
    patches.undo()


def test_a_module_that_is_not_there_and_a_namespace_package_are_left_to_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nothing_but_a_folder").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    patches, told = Patches(), list[ModuleType]()
    for name in ("nothing_but_a_folder", "not_there_at_all"):
        when_imported(name, told.append, patches)
    assert importlib.import_module("nothing_but_a_folder").__path__
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("not_there_at_all")
    patches.undo()
