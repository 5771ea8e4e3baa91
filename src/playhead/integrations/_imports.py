"""Being told when a package is imported, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from playhead.boundary import Patches

Callback = Callable[[ModuleType], None]


def when_imported(name: str, callback: Callback, patches: Patches) -> None:
    """Call ``callback`` with the module ``name``, now if it is imported, and each time it is loaded, until undone."""
    finder = _Finder(name, callback)
    sys.meta_path.insert(0, finder)
    patches.add(finder.leave)
    module = sys.modules.get(name)
    if module is None:
        return
    if type(module).__name__ == "_LazyModule":
        _tell_when_used(module, finder)
    else:
        callback(module)


class _Finder:
    """Stands before the other finders for one name: lets them find it, and has the loader tell."""

    def __init__(self, name: str, callback: Callback) -> None:
        self._name = name
        self._callback: Callback | None = callback

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if fullname != self._name or self not in sys.meta_path:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            spec: Any = finder.find_spec(fullname, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):  # a namespace package has none
                    spec.loader = _Telling(spec.loader, self)
                return spec
        return None

    def tell(self, module: ModuleType) -> None:
        if self._callback is not None:
            self._callback(module)

    def leave(self) -> None:
        self._callback = None
        if self in sys.meta_path:
            sys.meta_path.remove(self)


class _Telling:
    """A loader that tells a finder when its module has been executed. The module itself sees only the real one."""

    def __init__(self, loader: Any, finder: _Finder) -> None:
        self._loader = loader
        self._finder = finder

    def create_module(self, spec: Any) -> ModuleType | None:
        found: ModuleType | None = self._loader.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        namespace = object.__getattribute__(module, "__dict__")
        if namespace["__spec__"].loader is self:
            namespace["__spec__"].loader = self._loader
        if namespace.get("__loader__") is self:
            namespace["__loader__"] = self._loader
        self._loader.exec_module(module)
        if type(self._loader).__name__ == "LazyLoader":
            _tell_when_used(module, self._finder)
        else:
            self._finder.tell(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _tell_when_used(module: ModuleType, finder: _Finder) -> None:
    """Have a module that is only executed at its first use tell then."""
    spec = object.__getattribute__(module, "__dict__")["__spec__"]
    spec.loader = _Telling(spec.loader, finder)
