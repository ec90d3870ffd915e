"""A version of this package, as users have it: a repository with the files as they are now, and a tag."""

import os
import pathlib
import subprocess
import time

# What the manifests of the examples say, and users replace in a copy.
LOCAL = '.package(name: "swift-corebluetooth", path: "../..")'


def make(folder):
    """Adds a version to the repository in `folder`. Returns the dependency of a manifest on it."""
    repository = pathlib.Path(folder).absolute() / "swift-corebluetooth"
    person = {f"GIT_{role}_{part}": "ci" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    environment = {**os.environ, **person, "GIT_DIR": str(repository), "GIT_WORK_TREE": "."}

    def git(*arguments):
        result = subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE, text=True, env=environment)
        return result.stdout.strip()

    if not repository.exists():
        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", repository], check=True)
    # The repository has an index of its own, so the state of this clone's does not matter.
    git("add", "--all")
    tree = git("write-tree")
    tags = git("for-each-ref", "--format=%(tree) %(refname:short)", "refs/tags")
    versions = dict(line.split() for line in tags.splitlines())
    # The next check of the same files takes the same version, and builds nothing again.
    version = versions.get(tree)
    if version is None:
        # SwiftPM remembers which commit each version of a repository was, so a version is never used again.
        version = f"0.0.{int(time.time())}"
        commit = git("commit-tree", tree, "-m", "A version")
        git("update-ref", "refs/heads/main", commit)
        git("tag", version, commit)
    return f'.package(url: "file://{repository}", exact: "{version}")'


def depend(package, dependency):
    """Lets the copy of an example depend on a version."""
    manifest = package / "Package.swift"
    text = manifest.read_text(encoding="utf-8")
    if text.count(LOCAL) != 1:
        raise SystemExit(f"{manifest} does not depend on {LOCAL}")
    manifest.write_text(text.replace(LOCAL, dependency), encoding="utf-8")
