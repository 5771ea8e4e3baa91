"""What an import of playhead costs. (Which floor may import which is import-linter's to check.)"""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.repo.house import PACKAGE, ROOT, SRC, list_python_files, module_of, name_of, read_tree, walk_top_imports

FACES_AND_WING = ("cli", "integrations", "testing")
OWN_DOORS = ("_program", "cli", "testing")
"""What stands on the public face: it runs whole programs, as a user would."""
LIGHT = {"msgspec", "playhead", "wrapt"}
LOADED_LATE = (
    "src/playhead/gateway/_asker.py",
    "src/playhead/gateway/_upstream.py",
    "src/playhead/masking/_engine_re2.py",
)
"""Files that are imported in the one function that needs them, so that their own imports are late as well."""
HEAVY = (
    *("aiohttp", "anthropic", "asyncio", "attr", "backports.zstd", "click", "cryptography", "google.genai", "httpx"),
    *("httpx2", "openai", "playhead.cli", "playhead.testing", "pydantic", "pytest", "re2", "requests", "rich"),
    *("sqlalchemy", "urllib3"),
)


def test_the_floors_load_no_heavy_library_when_they_are_imported() -> None:
    heavy = []
    for path in list_python_files("src/playhead"):
        if path.relative_to(PACKAGE).parts[0] in FACES_AND_WING or name_of(path) in LOADED_LATE:
            continue
        for module, line in walk_top_imports(read_tree(path).body):
            top = module.split(".")[0]
            if top == "asyncio" or (top not in sys.stdlib_module_names and top not in LIGHT):
                heavy.append(f"{name_of(path)}:{line} {module}")
    assert heavy == []


def test_no_package_imports_the_public_face() -> None:
    """``import playhead`` is the user's door: inside, a name comes from the package that owns it."""
    beside = ("playhead._system", "playhead._version")
    owned = {path.stem for path in PACKAGE.iterdir() if not path.stem.startswith("_")} | {"_system", "_version"}
    climbing = []
    for path in list_python_files("src/playhead"):
        if path.parent == PACKAGE or path.relative_to(PACKAGE).parts[0] in OWN_DOORS:
            continue
        for node in ast.walk(read_tree(path)):
            match node:
                case ast.Import(names=names) if any(name.name == "playhead" for name in names):
                    climbing.append(f"{name_of(path)}:{node.lineno}")
                case ast.ImportFrom(module="playhead", names=names) if {name.name for name in names} - owned:
                    climbing.append(f"{name_of(path)}:{node.lineno}")
                case ast.ImportFrom(module=str(module)) if module.startswith("playhead._") and module not in beside:
                    climbing.append(f"{name_of(path)}:{node.lineno}")
    assert climbing == []


def test_integrations_are_strangers_to_one_another() -> None:
    """What two of them share stands in a file of the wing that begins with ``_``, and that one knows neither."""
    wing = {f"playhead.integrations.{path.stem}" for path in (PACKAGE / "integrations").glob("[a-z]*.py")}
    known = []
    for path in (PACKAGE / "integrations").glob("*.py"):
        if path.name == "__init__.py":
            continue
        for node in ast.walk(read_tree(path)):
            match node:
                case ast.Import(names=names):
                    modules = {name.name for name in names}
                case ast.ImportFrom(module=str(module), names=names):
                    modules = {module} | {f"{module}.{name.name}" for name in names}
                case _:
                    continue
            if modules & wing - {module_of(path)}:
                known.append(f"{name_of(path)}:{node.lineno}")
    assert known == []


def test_import_playhead_is_cheap() -> None:
    code = f"""
import sys
bare = set(sys.modules)
sys.path.insert(0, {str(SRC)!r})
import playhead
print(*sorted(set(sys.modules) - bare), sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "playhead" in loaded
    assert [name for name in loaded if name in HEAVY] == []
