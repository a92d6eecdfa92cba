"""The action artifact: a real shell stands for the node, copying is recorded and done locally."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.shell.sh import ShellModule
from ansible.template import Templar
from ansible_collections.ascend.fleet.plugins.action import artifact

FILES = {
    "run/toolkit.run": ("cann-toolkit", "9.1.0", {"arch": "x86_64"}),
    "w/a-1-py3-none-any.whl": ("a", "1", {"python": "py3"}),
    "w/b-1-cp312-cp312-linux_x86_64.whl": ("b", "1", {"python": "cp312", "arch": "x86_64"}),
    "c-1-py3-none-any.whl": ("c", "1", {"python": "py3"}),
}


class Node(artifact.ActionModule):
    """The action with a node of this machine's file system."""

    calls: list[str]

    def _low_level_execute_command(self, cmd: str, *args: Any, **more: Any) -> dict[str, Any]:
        self.calls.append("shell")
        done = subprocess.run(["sh", "-c", cmd], capture_output=True, text=True, check=False)
        return {"rc": done.returncode, "stdout": done.stdout, "stderr": done.stderr}

    def _builtin(self, name: str, options: dict[str, Any]) -> None:
        self.calls.append(name)
        if name == "copy":
            shutil.copyfile(options["src"], options["dest"])
        else:
            with tarfile.open(options["src"]) as tar:
                tar.extractall(options["dest"], filter="data")

    def _execute_module(self, module_name: str, module_args: dict[str, Any], **more: Any) -> dict[str, Any]:
        self.calls.append(module_name)
        return {"failed": True, "msg": "The checksum for x did not match %s; it was %s." % ("1" * 64, "2" * 64)}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    entries = []
    for file, (name, version, platform) in FILES.items():
        path = tmp_path / "src" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file)
        digest = hashlib.sha256(file.encode()).hexdigest()
        known = {"name": name, "version": version, "platform": platform, "file": file}
        entries.append({**known, "sha256": digest, "size": len(file), "source": "test"})
    (tmp_path / "src" / "manifest.yml").write_text(json.dumps({"schema": 1, "artifacts": entries}))
    return tmp_path


def run(sources: Any, variables: dict[str, Any] | None = None, check: bool = False, **args: Any) -> dict[str, Any]:
    task = SimpleNamespace(
        args=args,
        check_mode=check,
        async_val=0,
        action="ascend.fleet.artifact",
        diff=False,
        environment=[],
        collections=[],
    )
    loader = DataLoader()
    values = {"ascend_artifacts": sources, **(variables or {})}
    connection = SimpleNamespace(_shell=ShellModule())
    node = Node(task, connection, None, loader, Templar(loader=loader, variables=values), None)
    node.calls = []
    result = node.run(task_vars=values)
    result["calls"] = node.calls
    return result


TOOLKIT = {"name": "cann-toolkit", "version": "9.1.0", "platform": {"arch": "x86_64"}}
WHEELS = {"wheels": True, "platform": {"arch": "x86_64", "python": "3.12"}}


def test_a_file_of_the_controller_is_copied_once(world: Path) -> None:
    sources, dest = {"dir": str(world / "src")}, str(world / "node")
    first = run(sources, dest=dest, **TOOLKIT)
    assert (first["changed"], first["staged"], first["path"]) == (True, True, dest + "/toolkit.run")
    assert Path(first["path"]).read_text() == "run/toolkit.run" and first["calls"] == ["shell", "copy"]
    second = run(sources, dest=dest, **TOOLKIT)
    assert (second["changed"], second["calls"]) == (False, ["shell"])


def test_check_mode_says_what_it_would_do_and_does_nothing(world: Path) -> None:
    result = run({"dir": str(world / "src")}, check=True, dest=str(world / "node"), **TOOLKIT)
    assert result["changed"] is True and result["would"] and not (world / "node").exists()
    wheels = run({"dir": str(world / "src")}, check=True, dest=str(world / "node"), **WHEELS)
    assert wheels["would"] == ["put 3 wheels on the node into %s/node/wheels" % world]
    assert not (world / "node").exists()


def test_a_file_of_the_node_is_used_in_place_and_its_manifest_read_if_nobody_has(world: Path) -> None:
    sources = {"node_dir": str(world / "src")}
    result = run(sources, **TOOLKIT)
    assert (result["changed"], result["staged"]) == (False, False)
    assert result["path"] == str(world / "src/run/toolkit.run")
    reads = {str(world / "src/manifest.yml"): None}
    with pytest.raises(AnsibleActionFail, match="on the node: cannot be read"):
        run(sources, {"ascend_probe_result": {"ansible_facts": {"ascend_reads": reads}}}, **TOOLKIT)


@pytest.mark.parametrize("kind", ["dir", "node_dir"])
def test_another_content_is_never_used(world: Path, kind: str) -> None:
    (world / "src/run/toolkit.run").write_text("other")
    with pytest.raises(AnsibleActionFail) as caught:
        run({kind: str(world / "src")}, dest=str(world / "node"), **TOOLKIT)
    for word in ("toolkit.run", hashlib.sha256(b"other").hexdigest(), hashlib.sha256(b"run/toolkit.run").hexdigest()):
        assert word in str(caught.value)
    assert not (world / "node" / "toolkit.run").exists()


def test_a_mirror_with_another_content_names_both_hashes(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (world / "src/manifest.yml").read_text()
    monkeypatch.setattr(artifact.artifacts.mirror, "text_of", lambda address: text)
    monkeypatch.setitem(artifact.artifacts.resolve.__kwdefaults__, "fetch", lambda address: text)
    with pytest.raises(AnsibleActionFail) as caught:
        run({"url": "http://mirror.example"}, dest=str(world / "node"), **TOOLKIT)
    assert "http://mirror.example/run/toolkit.run with sha256 " + "1" * 64 in str(caught.value)


def test_wheels_travel_in_one_archive_and_once(world: Path) -> None:
    sources, dest = [{"dir": str(world / "src")}], str(world / "node")
    first = run(sources, dest=dest, **WHEELS)
    assert (first["changed"], first["path"]) == (True, dest + "/wheels")
    assert first["calls"] == ["shell", "unarchive", "shell"]
    assert sorted(Path(path).name for path in first["files"]) == sorted(Path(name).name for name in list(FILES)[1:])
    assert all(Path(path).is_file() for path in first["files"])
    second = run(sources, dest=dest, **WHEELS)
    assert (second["changed"], second["calls"]) == (False, ["shell"])
    Path(first["files"][0]).write_text("damaged")
    assert run(sources, dest=dest, **WHEELS)["changed"] is True
    assert Path(first["files"][0]).read_text() != "damaged"


def test_wheels_of_the_node_are_linked_into_one_folder_or_used_in_place(world: Path) -> None:
    sources, dest = {"node_dir": str(world / "src")}, str(world / "node")
    first = run(sources, dest=dest, **WHEELS)
    assert first["changed"] is True and all(Path(path).is_symlink() for path in first["files"])
    assert run(sources, dest=dest, **WHEELS)["changed"] is False
    manifest = json.loads((world / "src/manifest.yml").read_text())
    manifest["artifacts"] = [entry for entry in manifest["artifacts"] if entry["file"].startswith("w/")]
    (world / "src/manifest.yml").write_text(json.dumps(manifest))
    flat = run(sources, dest=str(world / "unused"), **WHEELS)
    assert (flat["path"], flat["staged"], flat["changed"]) == (str(world / "src/w"), False, False)


def test_no_wheel_that_fits_is_an_empty_path(world: Path) -> None:
    manifest = json.loads((world / "src/manifest.yml").read_text())
    manifest["artifacts"] = [entry for entry in manifest["artifacts"] if entry["name"] in ("cann-toolkit", "b")]
    (world / "src/manifest.yml").write_text(json.dumps(manifest))
    result = run({"dir": str(world / "src")}, wheels=True, platform={"arch": "aarch64", "python": "cp310"}, dest="/x")
    assert (result["path"], result["files"], result["changed"], result["calls"]) == ("", [], False, [])


def test_no_name_is_refused(world: Path) -> None:
    with pytest.raises(Exception, match="name"):
        run({"dir": str(world / "src")})
