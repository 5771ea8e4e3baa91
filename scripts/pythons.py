"""Find the supported Python interpreters of this machine and keep one environment for each.

    python3 scripts/pythons.py list             which interpreters were found
    python3 scripts/pythons.py main             build `.venv` with the best of them
    python3 scripts/pythons.py each -- -m X     run `python -m X` in an environment of every other version
    python3 scripts/pythons.py newest -- -m X   the same, in the newest of these only
    python3 scripts/pythons.py frameworks -- -m X   run `python -m X` where the frameworks for agents are installed
    python3 scripts/pythons.py lock             pin everything anew in requirements/

An environment is built again only when the lock, the project's dependencies or the interpreter has changed. This
file needs no package and runs on older interpreters than playhead itself, since it may be started by whatever
`python3` is.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "dev.txt"
FRAMEWORKS = ROOT / "requirements" / "frameworks.txt"
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
# The interpreter behind an activated environment, so that an environment is never built from itself.
PROBE = """
import ensurepip, os, sys, venv
print("%d.%d" % sys.version_info[:2], os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
"""


def find_candidates() -> Iterator[str]:
    """Every path or name that could be an interpreter, the most likely main one first."""
    if os.environ.get("PYTHON"):
        yield os.environ["PYTHON"]
    yield "python3"
    for version in SUPPORTED:
        name = "python" + version
        yield name
        # Once more on the whole of PATH: the first hit may be a pyenv shim, which exists and cannot run.
        for folder in os.environ.get("PATH", "").split(os.pathsep):
            yield os.path.join(folder, name)
    for root in filter(None, (os.environ.get("PYENV_ROOT"), read_output(["pyenv", "root"]), "~/.pyenv")):
        yield from sorted(glob.glob(os.path.join(os.path.expanduser(root), "versions", "3.*", "bin", "python")))


def read_output(command: list[str]) -> str:
    """What a command prints, or nothing where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def find_pythons() -> Iterator[tuple[str, str]]:
    """The interpreters that run and can build an environment, one of each version: version and path."""
    tried: set[str] = set()
    found: set[str] = set()
    for candidate in find_candidates():
        path = shutil.which(candidate)
        if not path or path in tried:
            continue
        tried.add(path)
        version, _, executable = read_output([path, "-c", PROBE]).partition(" ")
        if version in SUPPORTED and version not in found:
            found.add(version)
            yield version, executable


def prepare(folder: Path, python: str, *, lock: Path = LOCK) -> Path:
    """An environment in ``folder`` with all that ``lock`` pins and this checkout; gives its interpreter."""
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    # Below this heading the project file holds the settings of tools, which change nothing that is installed.
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[tool.ruff]")[0]
    facts = (python, read_output([python, "-VV"]), str(ROOT), project, lock.read_text(encoding="utf-8"))
    digest = hashlib.sha256("\n".join(facts).encode())
    stamp = folder / ".prepared"
    if inside.exists() and stamp.exists() and stamp.read_text() == digest.hexdigest():
        return inside
    print(f"preparing {folder.name} with {python}", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(inside), "-m", "pip", "-qq", "--disable-pip-version-check", "install", "--no-compile"]
    subprocess.run([*pip, "--no-deps", "--requirement", str(lock)], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
    stamp.write_text(digest.hexdigest())
    return inside


def prepare_main() -> Path:
    """The environment in `.venv`, with the first interpreter that is found; gives its interpreter."""
    return prepare(ROOT / ".venv", find_main())


def find_main() -> str:
    """The first interpreter that is found."""
    for _, python in find_pythons():
        return python
    raise SystemExit(
        f"no Python {SUPPORTED[0]} to {SUPPORTED[-1]} with venv and pip found; install one, or name it: "
        "PYTHON=/path/to/python3 make test"
    )


def run_each(command: list[str], *, newest: bool = False) -> int:
    """Run a command in the environment of every version but the main one; 0 when all of them gave 0."""
    failed = []
    others = sorted(list(find_pythons())[1:], key=lambda found: SUPPORTED.index(found[0]))
    for version, python in others[-1:] if newest else others:
        inside = prepare(ROOT / f".venv-{version}", python)
        print(f"\nPython {version}: python {' '.join(command)}", flush=True)
        if subprocess.run([str(inside), *command], cwd=ROOT, check=False).returncode:
            failed.append(version)
    if failed:
        print(f"failed on Python {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run_with_frameworks(command: list[str]) -> int:
    """Run a command where the frameworks for agents are installed, with the first interpreter that is found."""
    inside = prepare(ROOT / ".venv-frameworks", find_main(), lock=FRAMEWORKS)
    return subprocess.run([str(inside), *command], cwd=ROOT, check=False).returncode


def lock() -> int:
    """Resolve once for all supported versions and platforms, and write the locks."""
    inside = prepare_main()
    command = [str(inside), "-m", "uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version"]
    options = [SUPPORTED[0], "--all-extras", "--group", "dev", "--upgrade", "--no-annotate", "--no-header"]
    written = subprocess.run([*command, *options, "--quiet", "-o", str(LOCK)], cwd=ROOT, check=False).returncode
    options = [SUPPORTED[0], "--group", "frameworks", "--group", "build", "--upgrade", "--no-annotate", "--no-header"]
    more = subprocess.run([*command, *options, "--quiet", "-o", str(FRAMEWORKS)], cwd=ROOT, check=False).returncode
    return written or more


def main(arguments: list[str]) -> int:
    """Carry out one of the commands above; gives the exit code."""
    if arguments == ["list"]:
        for version, path in find_pythons():
            print(version, path)
        return 0
    if arguments == ["main"]:
        prepare_main()
        return 0
    if arguments == ["lock"]:
        return lock()
    if arguments[:2] == ["frameworks", "--"]:
        return run_with_frameworks(arguments[2:])
    if arguments[:2] in (["each", "--"], ["newest", "--"]):
        return run_each(arguments[2:], newest=arguments[0] == "newest")
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"could not run: {' '.join(error.cmd)}")
