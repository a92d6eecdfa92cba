# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Source archives vllm-<v>.tar.gz and vllm_ascend-<v>.tar.gz, built by pip as the real ones are."""

from __future__ import annotations

import json
from pathlib import Path

from common import HERE, ROOT, add_bytes, gzipped_tar, versions

STANDINS = HERE / "standins"
VLLM_BUILD = (
    "cmake>=3.26.1",
    "ninja",
    "packaging>=24.2",
    "setuptools>=77.0.3,<81.0.0",
    "setuptools-scm>=8.0",
    "wheel",
    "jinja2",
)
ASCEND_BUILD = ("cmake>=3.26", "packaging", "pip", "pybind11", "pyyaml", "setuptools>=64", "setuptools-scm>=8", "wheel")
# By /v1 only up to 0.18, then also these.
GUARDED = {True: ["/v1", "/v2", "/inference"], False: ["/v1"]}
SOC_TO_DEVICE = {
    "A2": "910b ascend910b1 ascend910b2 ascend910b2c ascend910b3 ascend910b4 ascend910b4-1",
    "A3": "910c ascend910_9391 ascend910_9381 ascend910_9372 ascend910_9392 ascend910_9382 ascend910_9362",
    "_310P": "310p ascend310p1 ascend310p3 ascend310p5 ascend310p7 ascend310p3vir01 ascend310p3vir02 ascend310p3vir04 "
    "ascend310p3vir08",
}


def options_file(version: str) -> Path:
    """The option list of a vLLM version, which the stand-in refuses by."""
    return ROOT / "data" / "options" / f"vllm-{version}.json"


def pyproject(name: str, requires: list[str], scripts: bool) -> str:
    """pyproject.toml with the build requirements of the real one."""
    lines = ["[build-system]", f"requires = {json.dumps(requires)}", 'build-backend = "setuptools.build_meta"', ""]
    if scripts:
        lines += [
            "[project]",
            f'name = "{name}"',
            'requires-python = ">=3.10,<3.14"',
            'dynamic = ["version", "dependencies"]',
            "",
        ]
        lines += ["[project.scripts]", f'{name} = "vllm.entrypoints.cli.main:main"', ""]
    return "\n".join(lines)


def vllm_files(version: str, row: dict) -> dict[str, bytes]:
    """{path: content} of the vLLM source tree that differ by version."""
    requires = [*VLLM_BUILD, *row["vllm_build"], f"torch == {row['vllm_build_torch']}"]
    traits = {"config_dicts": row["config_dicts"], "guarded": GUARDED[bool(row["vllm_build"])]}
    return {
        "pyproject.toml": pyproject("vllm", requires, scripts=True).encode(),
        "requirements/common.txt": "".join(f"{item}\n" for item in row["vllm"]).encode(),
        "vllm/options.json": options_file(version).read_bytes(),
        "vllm/traits.json": json.dumps(traits).encode(),
        "MANIFEST.in": b"include requirements/*.txt\ninclude vllm/*.json\n",
    }


def ascend_files(row: dict) -> dict[str, bytes]:
    """{path: content} of the vllm-ascend source tree that differ by version."""
    table = {soc: device for device, names in SOC_TO_DEVICE.items() for soc in names.split()}
    traits = {
        "soc_to_device": table,
        "soc_950": row["soc_950"],
        "asks_npu_smi_always": row["asks_npu_smi_always"],
        "two_stages": not row["asks_npu_smi_always"],
    }
    return {
        "pyproject.toml": pyproject("vllm_ascend", [*ASCEND_BUILD, *row["ascend_build"]], scripts=False).encode(),
        "requirements.txt": "".join(f"{item}\n" for item in row["ascend"]).encode(),
        "traits.json": json.dumps(traits).encode(),
        "MANIFEST.in": b"include requirements.txt traits.json\n",
    }


def write(out: Path, name: str, version: str, vllm: str, extra: dict[str, bytes]) -> Path:
    """Write one archive, with the PKG-INFO that tells setuptools-scm the version outside of a git checkout."""
    base = f"{name}-{version}"
    files = {}
    for path in sorted((STANDINS / name).rglob("*.py")):
        text = path.read_text(encoding="utf-8").replace("@VLLM@", vllm)
        files[path.relative_to(STANDINS / name).as_posix()] = text.encode()
    files.update(extra)
    files["PKG-INFO"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    path = out / f"{base}.tar.gz"
    with gzipped_tar(path) as tar:
        for file, content in sorted(files.items()):
            add_bytes(tar, f"{base}/{file}", content)
    return path


def build(out: Path) -> list[Path]:
    """Write OUT/sources and return its archives. A row that names vllm_version is a plugin release for that vLLM."""
    folder = out / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    rows, made = versions()["sources"], []
    for release, row in rows.items():
        vllm = row.get("vllm_version", release)
        if vllm == release:
            made.append(write(folder, "vllm", release, vllm, vllm_files(release, row)))
        made.append(write(folder, "vllm_ascend", release, vllm, ascend_files(rows[vllm])))
    for stale in set(folder.glob("*.tar.gz")) - set(made):
        stale.unlink()
    return made
