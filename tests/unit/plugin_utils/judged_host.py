"""A host that is as release 0.23.0 wants it: two A2 cards, everything built, one instance. Tests change one thing."""

from __future__ import annotations

from typing import Any

from ansible_collections.ascend.fleet.plugins.plugin_utils import data, plan, release, verdict

TABLES = verdict.tables()
UNIT = "ascend-vllm-chat.service"


def row(name: str = "", family: str | None = "910b", arch: str = "x86_64", **more: Any) -> dict[str, Any]:
    return release.resolve(data.load("releases"), name, family, arch, chips=TABLES["chips"], **more)


def device(npu: int, **more: Any) -> dict[str, Any]:
    found = {
        "npu_id": npu, "chip_id": 0, "logic_id": npu, "phy_id": npu, "name": "910B4", "family": "910b", "health": "OK",
        "fault_codes": None, "bus_id": "0000:C%d:00.0" % npu, "hbm_total_mb": 32768, "memory_total_mb": 0,
    }  # fmt: skip
    return dict(found, **more)


def state(layer: str, key: str, status: str = "complete", **have: Any) -> dict[str, Any]:
    return {
        "schema": 1, "layer": layer, "key": key, "status": status, "origin": "installed", "have": have, "drift": [],
        "made": {"paths": []}, "files": {},
    }  # fmt: skip


def facts(wanted: dict[str, Any] | None = None) -> dict[str, Any]:
    wanted = wanted or row()
    rid, prefix = wanted["runtime_id"], "/opt/ascend-fleet/envs/" + wanted["runtime_id"]
    cann = wanted["cann"]
    return {
        "ascend_npu": {
            "pci": [
                {"address": "0000:c%d:00.0" % n, "vendor": "19e5", "device": "d802", "family": "910b"} for n in (0, 1)
            ],
            "device_nodes": ["/dev/davinci0", "/dev/davinci1"],
            "smi": {"path": "/usr/local/sbin/npu-smi", "version": "25.5.1", "usable": True, "error": None},
            "driver": {"version": "25.5.1", "running": "25.5.1", "reboot_pending": False, "install_status": "complete"},
            "firmware": {"version": "7.8.0.5.216", "mixed": False},
            "devices": [device(0), device(1)],
            "processes": [],
            "truncated": False,
            "warnings": [],
        },
        "ascend_host": {
            "os": {"id": "debian", "version_id": "12", "name": "Debian", "family": "debian"},
            "arch": "x86_64",
            "python": {"executable": "/usr/bin/python3", "version": "3.11.2"},
            "disk": {
                "/usr/local/Ascend": {"path": "/usr/local", "free_mb": 90000, "total_mb": 99999, "noexec": False},
                "/tmp": {"path": "/tmp", "free_mb": 90000, "total_mb": 99999, "noexec": False},
            },
            "ports": [22],
            "port_owners": {},
        },
        "ascend_cann": {
            "trees": [
                {
                    "version": cann, "path": "/usr/local/Ascend/cann-" + cann, "layout": "cann", "arch": "x86_64",
                    "toolkit": cann, "ops": {"910b": cann}, "complete": True, "origin": "ours",
                    "env_scripts": ["/usr/local/Ascend/cann-%s/set_env.sh" % cann], "links": [],
                }
            ],
            "nnal": [{"version": cann, "path": "/usr/local/Ascend/nnal/atb/" + cann, "active": True}],
            "active": "/usr/local/Ascend/cann-" + cann,
        },
        "ascend_stack": {
            "cann": {"toolkit-" + cann: state("cann", "toolkit"), "env-" + cann: state("cann", "env")},
            "conda_env": {"base": state("conda_env", "base"), rid: state("conda_env", rid, prefix=prefix)},
            "vllm_ascend": {rid: state("vllm_ascend", rid, id=rid, family="910b")},
            "vllm_service": {"chat": state("vllm_service", "chat", instance="chat", runtime=rid)},
        },
        "ascend_envs": {
            "/opt/ascend-fleet/conda": {"exists": True, "python": "3.12.1", "packages": {"conda": "24.7.1"}},
            prefix: {
                "exists": True,
                "python": "3.12.1",
                "packages": {one["name"]: one["version"] for one in plan.pins(wanted)},
            },
        },
        "ascend_units": {UNIT: {"active": "inactive", "main_pid": 0}},
        "ascend_reads": {},
        "ascend_models": {
            "/srv/models/tiny": {
                "exists": True, "weight_files": 1, "missing_weights": [],
                "config": {"architectures": ["X"], "torch_dtype": "bfloat16", "num_attention_heads": 16},
            }
        },
    }  # fmt: skip


def settings(**more: Any) -> dict[str, Any]:
    found = {
        "cann_install_path": "/usr/local/Ascend", "cann_accept_eula": True, "cann_tmp_dir": "/tmp",
        "conda_env_base": "/opt/ascend-fleet/conda", "conda_env_root": "/opt/ascend-fleet/envs", "vllm_ascend_env": "",
        "npu_driver_devices": [], "vllm_service_settings": {}, "vllm_service_env": {},
        "vllm_service_instances": [instance()],
    }  # fmt: skip
    return dict(found, **more)


def instance(**more: Any) -> dict[str, Any]:
    found = {
        "name": "chat", "state": "started", "model": "/srv/models/tiny", "devices": ["0", "1:0"], "port": 8000,
        "settings": {"tensor-parallel-size": 2}, "env": {}, "secrets": {},
    }  # fmt: skip
    return dict(found, **more)


def wanted(seen: dict[str, Any], given: dict[str, Any], one: dict[str, Any] | None = None) -> dict[str, Any]:
    """Wanted state for facts and settings, with the plan that follows from them."""
    one = one or row()
    return {
        "row": one, "family": one["family"], "arch": one["arch"], "settings": given, "check": False, "tables": TABLES,
        "options": data.options(one["options"]), "artifacts": [], "misspelt": [], "invalid": [],
        "steps": {layer: plan.plan(layer, seen, one, given) for layer in plan.LAYERS},
    }  # fmt: skip
