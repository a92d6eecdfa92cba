# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an instance becomes: the config as vLLM will read it, the environment, the unit; never a secret."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest
import yaml
from ansible_collections.ascend.fleet.plugins.plugin_utils import instance_env, instance_files
from hypothesis import given
from hypothesis import strategies as st

Error = instance_files.InstanceError
KNOWN = {
    "--enable-prefix-caching": {"nargs": 0},
    "--no-enable-prefix-caching": {"nargs": 0},
    "--disable-log-stats": {"nargs": 0},
    "--served-model-name": {"nargs": "+"},
    "--allowed-origins": {"nargs": None},
    "--lora-modules": {"nargs": "+"},
}


def context(**more):
    base = {"stack": {}, "row": {"runtime_id": "0.23.0-abcdef01", "options": "0.23.0"}, "user": "vllm"}
    return dict(base, **more)


def render(**one):
    shared = one.pop("context", context())
    whole = instance_files.render([dict({"name": "chat", "model": "/m"}, **one)], shared)
    return whole["instances"][0]


def text_of(instance, ending):
    return next(file["content"] for file in instance["files"] if file["path"].endswith(ending))


def words(settings, known=None):
    """The command line words that vLLM makes of a config (vllm/utils/argparse_utils.py of 0.13, the strictest)."""
    wanted = {"name": "chat", "port": 8000}
    loaded = yaml.safe_load(instance_files.config_text(wanted, instance_files.merged_settings(settings), known))
    assert loaded.pop("port") == 8000
    found = []
    for key, value in loaded.items():
        if isinstance(value, bool):
            found += ["--" + key] if value else []
        elif isinstance(value, list):
            found += ["--" + key, *[str(item) for item in value]]
        else:
            found += ["--" + key, str(value)]
    return found


@pytest.mark.parametrize(
    ("settings", "want"),
    [
        ({"enable-prefix-caching": True}, ["--enable-prefix-caching"]),
        ({"enable-prefix-caching": False}, ["--no-enable-prefix-caching"]),
        ({"enable_prefix_caching": False}, ["--no-enable-prefix-caching"]),
        ({"disable-log-stats": False}, []),
        ({"max-model-len": 4096}, ["--max-model-len", "4096"]),
        ({"gpu-memory-utilization": 0.85}, ["--gpu-memory-utilization", "0.85"]),
        ({"dtype": "float16"}, ["--dtype", "float16"]),
        ({"served-model-name": "on"}, ["--served-model-name", "on"]),
        ({"served-model-name": ["1.0", "null"]}, ["--served-model-name", "1.0", "null"]),
        ({"served-model-name": []}, []),
        ({"additional-config": {"a": {"b": True}}}, ["--additional-config", '{"a": {"b": true}}']),
        ({"allowed-origins": ["*"]}, ["--allowed-origins", '["*"]']),
        ({"lora-modules": [{"name": "x"}]}, ["--lora-modules", '{"name": "x"}']),
        ({"compilation-config.cudagraph_mode": "FULL"}, ["--compilation-config.cudagraph_mode", "FULL"]),
        ({"chat-template": "it's"}, ["--chat-template", "it's"]),
        ({"chat-template": None}, []),
    ],
)
def test_a_setting_means_the_same_to_every_vllm(settings, want):
    assert words(settings, KNOWN) == want


def test_without_a_list_of_options_false_is_said_and_not_dropped():
    assert words({"disable-log-stats": False}) == ["--no-disable-log-stats"]


@given(st.text(st.characters(blacklist_categories=("Cs",), max_codepoint=0xFFFF)))
def test_any_text_arrives_as_it_was(value):
    assert words({"chat-template": value}) == ["--chat-template", value]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(blacklist_categories=("Cs",), max_codepoint=0x7E)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab-_", min_size=1), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text("ab'\" ", min_size=1), json_values, max_size=4))
def test_any_dictionary_arrives_as_json(value):
    assert json.loads(words({"additional-config": value})[1]) == value


def test_an_instance_wins_over_the_host_in_either_spelling_and_null_takes_away():
    one = render(
        settings={"max_model_len": 1, "dtype": None},
        context=context(settings={"max-model-len": 2, "dtype": "float16", "seed": 7}),
    )
    config = yaml.safe_load(text_of(one, ".yaml"))
    assert config == {"port": 8000, "max-model-len": 1, "seed": 7}


@pytest.mark.parametrize("name", ["model", "port", "config", "api-key", "api_key"])
def test_settings_that_are_said_elsewhere_are_refused(name):
    with pytest.raises(Error, match=name.replace("_", "-")):
        render(settings={name: "x"})


def test_the_served_name_is_the_first_of_its_names_or_the_model():
    assert render()["served_name"] == "/m"
    assert render(settings={"served-model-name": ["a", "b"]})["served_name"] == "a"
    assert render(settings={"served_model_name": "c"})["served_name"] == "c"


# environment --------------------------------------------------------------------------------------------------------


def env(instance):
    """Read by bash itself, with an environment that has nothing else."""
    script = "set -a\n%s\nexec env -0" % text_of(instance, ".env")
    out = subprocess.run(["env", "-i", "bash", "-c", script], capture_output=True, check=True).stdout
    return dict(part.split("=", 1) for part in out.decode("utf-8", "surrogateescape").split("\0") if "=" in part)


def test_all_that_it_writes_stays_below_its_own_folder():
    have = env(render())
    for name in ("HOME", "XDG_CACHE_HOME", "VLLM_CACHE_ROOT", "ASCEND_PROCESS_LOG_PATH", "TRITON_CACHE_DIR"):
        assert (have[name] + "/").startswith("/var/lib/ascend-vllm/chat/")


def test_env_of_the_instance_wins_and_null_takes_away():
    have = env(render(env={"A": 1, "B": None, "C": True}, context=context(env={"A": "x", "B": "y", "D": False})))
    assert (have["A"], have["C"], have["D"]) == ("1", "1", "0")
    assert "B" not in have


@pytest.mark.parametrize(
    ("devices", "want"),
    [
        ([], None),
        (["0"], None),
        (["0:1", "0:0"], None),
        (["0:1"], 60032),
        (["7", "4"], 60256),
        (["4:1", "5"], 60288),
        (["2144"], None),
        (["x"], None),
    ],
)
def test_each_instance_has_hccl_ports_of_its_own(devices, want):
    assert instance_env.hccl_port(devices) == want
    assert env(render(devices=devices)).get("HCCL_IF_BASE_PORT") == (str(want) if want else None)


def test_no_two_chips_share_hccl_ports():
    chips = ["%d:%d" % (npu, chip) for npu in range(16) for chip in range(2)]
    firsts = sorted(instance_env.hccl_port([chip]) or 60000 for chip in chips)
    assert all(after - before >= 32 for before, after in zip(firsts, firsts[1:]))


def test_hccl_ports_can_be_chosen():
    assert env(render(devices=["3"], env={"HCCL_IF_BASE_PORT": 50000}))["HCCL_IF_BASE_PORT"] == "50000"


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0xFFFF, blacklist_categories=("Cs", "Cc"))))
def test_any_value_is_quoted_so_that_a_shell_reads_it_back(value):
    line = instance_env.env_line("chat", "KEY", value)
    assert line.startswith('KEY="')
    quoted = line[len("KEY=") :]
    assert shlex.split(quoted.replace("\\$", "$").replace("\\`", "`"), posix=True) == [value]


@pytest.mark.parametrize(
    ("key", "value"), [("A B", "x"), ("1", "x"), ("", "x"), ("A\n", "x"), ("A", "a\nb"), ("A", "\0")]
)
def test_what_an_environment_cannot_hold_is_refused(key, value):
    with pytest.raises(Error):
        render(env={key: value})


def test_the_devices_cannot_be_set_by_env():
    with pytest.raises(Error, match="devices"):
        render(env={"ASCEND_RT_VISIBLE_DEVICES": "0"})


# unit and description -----------------------------------------------------------------------------------------------


def unit(**one):
    """Lines of the unit by key, as lists."""
    found = {}
    for line in render(**one)["unit"]["content"].splitlines():
        key, sign, value = line.partition("=")
        if sign and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def test_the_unit_runs_the_runtime_of_the_state():
    stack = {
        "vllm_ascend": {
            "mine": {
                "have": {
                    "exec": ["/x/bin/vllm"],
                    "env_file": "/e/mine.env",
                    "prefix": "/x",
                    "versions": {"vllm": "0.18.0"},
                }
            }
        }
    }
    one = {"runtime": "mine", "context": context(stack=stack)}
    lines = unit(**dict(one))
    assert lines["EnvironmentFile"] == [
        "/e/mine.env",
        "/etc/ascend-fleet/vllm/chat.env",
        "-/etc/ascend-fleet/vllm/chat.secrets",
    ]
    assert lines["ExecStart"][0].startswith("/x/bin/python -I -B /opt/ascend-fleet/libexec/")
    argv = json.loads(text_of(render(**one), ".json"))["argv"]
    assert argv == ["/x/bin/vllm", "serve", "/m", "--config", "/etc/ascend-fleet/vllm/chat.yaml"]


def test_a_runtime_that_is_not_built_yet_is_where_it_will_be():
    assert unit()["EnvironmentFile"][0] == "/etc/ascend-fleet/runtimes/0.23.0-abcdef01.env"
    assert unit(context=context(stack={"vllm_ascend": {"0.23.0-abcdef01": None}}))["ExecStart"]


def test_groups_are_named_only_when_there_are_some():
    assert "Group" not in unit()
    assert "SupplementaryGroups" not in unit()
    lines = unit(context=context(group="g", device_group="HwHiAiUser"))
    assert (lines["User"], lines["Group"], lines["SupplementaryGroups"]) == (["vllm"], ["g"], ["HwHiAiUser"])


def test_the_stop_is_bounded_and_refusals_are_not_tried_again():
    lines = unit(context=context(stop_timeout=33))
    assert lines["TimeoutStopSec"] == ["33"]
    assert lines["KillMode"] == ["mixed"]
    assert lines["RestartPreventExitStatus"] == ["2 78"]


def test_device_nodes_stay_visible():
    assert not {"PrivateDevices", "DeviceAllow", "DevicePolicy"} & set(unit())


def test_devices_stay_text_whatever_yaml_made_of_them():
    assert json.loads(text_of(render(devices=[0, "1:0"]), ".json"))["devices"] == ["0", "1:0"]


@pytest.mark.parametrize("python", ["/a b/python", "/a%b/python", "/a$b", "/a'b"])
def test_an_interpreter_that_a_unit_would_read_otherwise_is_refused(python):
    with pytest.raises(Error, match="cannot be used"):
        render(context=context(python=python))


# the whole ----------------------------------------------------------------------------------------------------------


def test_secrets_are_in_no_file():
    assert "hunter2" not in json.dumps(render(secrets={"VLLM_API_KEY": "hunter2"}))


def test_the_digest_follows_what_is_written():
    assert render()["digest"] == render()["digest"]
    assert render()["digest"] != render(port=8001)["digest"]


def test_an_absent_one_needs_no_more_than_its_name():
    whole = instance_files.render([{"name": "old", "state": "absent"}], context())
    assert whole["instances"][0]["unit"] == {
        "path": "/etc/systemd/system/ascend-vllm-old.service",
        "content": "",
    }


@pytest.mark.parametrize(
    ("one", "match"),
    [
        ({"name": "A b"}, "no name"),
        ({"name": "a\n"}, "no name"),
        ({"model": ""}, "no model"),
        ({"members": ["a"]}, "members"),
    ],
)
def test_a_definition_that_cannot_be_rendered(one, match):
    with pytest.raises(Error, match=match):
        render(**one)


def test_the_launcher_is_named_by_all_of_its_files(tmp_path):
    first = instance_files.launcher_of()
    assert first["path"].startswith("/opt/ascend-fleet/libexec/")
    entry = tmp_path / "launch.py"
    entry.write_text(first["entry"] + "#\n", encoding="utf-8")
    assert instance_files.launcher_of(str(entry))["path"] != first["path"]
