"""The build backend: maturin, and the program `unstuck` beside the extension module.

maturin builds either an extension module or programs. This backend builds the program by cargo, puts it
where maturin takes the scripts of a wheel from, and leaves the rest to maturin.
"""

import json
import pathlib
import shutil
import subprocess

import maturin
from maturin import (  # noqa: F401
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

# The folder of pyproject.toml, in which a frontend starts the backend.
ROOT = pathlib.Path.cwd()
# In a source distribution, pyproject.toml stands at its root.
CRATE = next(folder for folder in (ROOT / "adapters/python", ROOT) if (folder / "Cargo.toml").exists())
# The folder from which maturin takes scripts, by the name of the module.
SCRIPTS = ROOT / "unstuck._unstuck.data/scripts"


def _build_program():
    command = ["cargo", "build", "--release", "--locked", "--message-format=json-render-diagnostics"]
    command += ["--package", "unstuck-cli", "--bin", "unstuck"]
    lines = subprocess.run(command, cwd=CRATE, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    built = [json.loads(line).get("executable") for line in lines]
    (program,) = (path for path in built if path)
    shutil.rmtree(SCRIPTS, ignore_errors=True)
    SCRIPTS.mkdir(parents=True)
    shutil.copy(program, SCRIPTS)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build_program()
    try:
        return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    finally:
        shutil.rmtree(SCRIPTS.parent)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _build_program()
    try:
        return maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    finally:
        shutil.rmtree(SCRIPTS.parent)
