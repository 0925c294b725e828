"""The build backend: maturin, and the program `unstuck` beside the extension module.

maturin builds either an extension module or programs. This backend builds the program by cargo, puts it
where maturin takes the scripts of a wheel from, and leaves the rest to maturin. A program
that Python starts would start twenty times as slowly as a hook should.
"""

import contextlib
import json
import os
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

# The profile of cargo for both: "dev" builds in a fraction of the time.
PROFILE = os.environ.get("UNSTUCK_PROFILE", "dist")

# The folder of pyproject.toml, in which a frontend starts the backend. In a source distribution, it is the
# root of the workspace.
ROOT = pathlib.Path.cwd()
MANIFEST = next(path for path in (ROOT / "adapters/python/Cargo.toml", ROOT / "Cargo.toml") if path.exists())

# The folder from which maturin takes scripts, by the name of the module.
DATA = ROOT / "unstuck._unstuck.data"


@contextlib.contextmanager
def _program(settings):
    """Builds the program for as long as maturin needs it. Yields the settings for maturin."""
    # Features are those that maturin's build has, so that cargo compiles each crate once.
    command = ["cargo", "build", "--profile", PROFILE, "--manifest-path", MANIFEST]
    command += ["--package", "unstuck-cli", "--package", "unstuck-python", "--bin", "unstuck"]
    command += ["--message-format", "json-render-diagnostics"]
    messages = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    programs = {json.loads(message).get("executable") for message in messages} - {None}
    scripts = DATA / "scripts"
    shutil.rmtree(DATA, ignore_errors=True)
    scripts.mkdir(parents=True)
    try:
        for program in programs:
            shutil.copy(program, scripts)
        yield {"build-args": f"--profile {PROFILE}", **(settings or {})}
    finally:
        shutil.rmtree(DATA)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _program(config_settings) as settings:
        return maturin.build_wheel(wheel_directory, settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with _program(config_settings) as settings:
        return maturin.build_editable(wheel_directory, settings, metadata_directory)
