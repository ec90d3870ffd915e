"""A version of this package, as users have it: a repository with the files as they are now, and a tag."""

import os
import pathlib
import re
import subprocess
import tempfile
import time

# What the manifests of the examples say, and users replace in a copy.
LOCAL = '.package(name: "swift-corebluetooth", path: "../..")'


def make(folder):
    """Adds a version to the repository in `folder`. Returns the dependency of a manifest on it."""
    repository = pathlib.Path(folder).absolute() / "swift-corebluetooth"

    def git(*arguments, **environment):
        return subprocess.run(
            ["git", *arguments], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}).stdout.strip()

    if not repository.exists():
        git("init", "--quiet", "--bare", str(repository))
    with tempfile.TemporaryDirectory() as work:
        index = {"GIT_INDEX_FILE": f"{work}/index"}
        git("add", "--all", **index)
        tree = git("write-tree", **index)
    person = {f"GIT_{role}_{part}": "ci" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    commit = git("commit-tree", tree, "-m", "A version", **person)
    # SwiftPM remembers which commit each version of a repository was.
    version = f"0.0.{int(time.time())}"
    git("push", "--quiet", str(repository), f"{commit}:refs/tags/{version}")
    return f'.package(url: "file://{repository}", exact: "{version}")'


def depend(package, dependency):
    """Lets the copy of an example depend on a version, and on the products that it names."""
    manifest = package / "Package.swift"
    text, count = re.subn(re.escape(LOCAL), lambda _: dependency, manifest.read_text(encoding="utf-8"))
    if count != 1:
        raise SystemExit(f"{manifest} does not depend on {LOCAL}")
    manifest.write_text(text, encoding="utf-8")
