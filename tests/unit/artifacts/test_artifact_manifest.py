# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The builder's manifest against the collection's own reader of folders: two pieces of code, one answer."""

from __future__ import annotations

import json

import common
import manifest
import pytest
import yaml
from ansible_collections.ascend.fleet.plugins.plugin_utils import bundle

FILES = (
    "run/Ascend-cann-toolkit_9.1.0_linux-x86_64.run", "run/Ascend-cann-nnal_8.3.RC2_linux-aarch64.run",
    "run/Ascend-cann-910b-ops_8.5.0_linux-x86_64.run", "run/Ascend-cann-A3-ops_9.0.0_linux-x86_64.run",
    "run/Ascend-cann-kernels-310p_8.3.RC2_linux-x86_64.run", "run/Atlas-A3-cann-kernels_8.3.RC2_linux-x86_64.run",
    f"wheels/torch-2.10.0+cpu-cp312-cp312-manylinux_2_28_{common.ARCH}.whl",
    f"wheels/PyYAML-6.0.4-cp310-cp310-manylinux2014_{common.ARCH}.manylinux_2_17_{common.ARCH}.whl",
    "wheels/semantic_version-2.10.0-py2.py3-none-any.whl", "sources/vllm-0.23.0.tar.gz",
    "sources/vllm_ascend-0.23.0.post1.tar.gz", f"Miniforge3-test-Linux-{common.ARCH}.sh",
    "model/tiny/config.json", "channel/noarch/repodata.json",
)  # fmt: skip


def fill(folder):
    """The files with their names as content; {path: [size, mtime, sha256]} of them."""
    for file in FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    return {file: [len(file), 0, common.sha256_file(folder / file)] for file in FILES}


def test_manifest_is_what_the_bundle_playbook_would_write(tmp_path):
    mine = yaml.safe_load(manifest.render(fill(tmp_path)))
    theirs = bundle.describe(str(tmp_path))

    def rows(content):
        return {row["file"]: {key: row[key] for key in row if key != "source"} for row in content["artifacts"]}

    assert rows(mine) == rows(theirs)
    assert len(rows(mine)) == len(FILES) - 2
    assert mine["schema"] == theirs["schema"]


@pytest.mark.parametrize("name", ["nonsense.run", "Ascend-cann-toolkit.run", "Ascend-cann-toolkit_linux-x86_64.run"])
def test_unknown_run_package_stops_the_build(name):
    with pytest.raises(common.BuildError, match="RUN_NAMES"):
        manifest.describe(f"run/{name}")


@pytest.mark.parametrize(
    ("lines", "python", "wanted"),
    [
        (["3.11", "3.12"], ["3.10", "3.13"], None),
        (["3.11"], ["3.10", "3.13"], "3.11"),
        (["3.9", "3.10"], ["3.10", None], "3.10"),
    ],
)
def test_overrides_only_where_the_default_python_is_missing(tmp_path, monkeypatch, lines, python, wanted):
    table = {"default": "x", "releases": {"x": {"python_default": "3.12", "python": python}}}
    (tmp_path / "data" / "json").mkdir(parents=True)
    (tmp_path / "data" / "json" / "releases.json").write_text(json.dumps(table))
    monkeypatch.setattr(manifest, "ROOT", tmp_path)
    text = manifest.overrides(lines)
    assert (yaml.safe_load(text) if text else None) == ({"python_default": wanted} if wanted else None)


def test_overrides_refuse_a_machine_that_can_give_no_fitting_python(tmp_path, monkeypatch):
    table = {"default": "x", "releases": {"x": {"python_default": "3.12", "python": ["3.12", "3.13"]}}}
    (tmp_path / "data" / "json").mkdir(parents=True)
    (tmp_path / "data" / "json" / "releases.json").write_text(json.dumps(table))
    monkeypatch.setattr(manifest, "ROOT", tmp_path)
    with pytest.raises(common.BuildError, match="can only give"):
        manifest.overrides(["3.10"])
