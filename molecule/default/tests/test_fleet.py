# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three hosts of three chips that the shipped site playbook took to an answered request."""

from __future__ import annotations

import json

import pytest

testinfra_hosts = ["ansible://ascend_nodes"]
ASK = (
    "import json, sys, urllib.request as web; "
    "body = json.dumps({'model': sys.argv[2], 'prompt': 'hello', 'max_tokens': 8}).encode(); "
    "kind = {'Content-Type': 'application/json'}; "
    "ask = web.Request('http://127.0.0.1:%s/v1/completions' % sys.argv[1], body, kind); "
    "print(json.load(web.urlopen(ask))['choices'][0]['text'])"
)
# host -> {instance: (port, served name, logical ids that its devices have)}
WANTED = {
    "a2-1": {"left": (8000, "qwen", "0,1"), "right": (8001, "qwen", "6,7")},
    "a3-1": {"dies": (8000, "qwen", "6,7")},
    "duo-1": {"small": (8000, "qwen-small", "1")},
}
FAMILY = {"a2-1": ("910b", "A2"), "a3-1": ("a3", "A3"), "duo-1": ("310p", "_310P")}


@pytest.fixture
def node(root):
    return root.run("hostname").stdout.strip()


def test_every_instance_is_an_active_unit(root, node):
    for instance in WANTED[node]:
        unit = root.service(f"ascend-vllm-{instance}.service")
        assert unit.is_running and unit.is_enabled


def test_every_instance_answers_from_the_devices_that_it_names(root, node):
    for port, served, ids in WANTED[node].values():
        text = root.check_output("python3 -c %s %s %s", ASK, str(port), served)
        assert f"devices {ids} " in text


def test_the_runtime_is_built_for_the_chip_of_the_host(root, node):
    folder = "/var/lib/ascend-fleet/vllm_ascend"
    (file,) = root.file(folder).listdir()
    have = json.loads(root.file(f"{folder}/{file}").content_string)["have"]
    assert (have["family"], have["device_type"]) == FAMILY[node]


def test_no_installer_ran_twice(installer_calls):
    calls = [(call["package"], call["version"]) for call in installer_calls() if "--install" in call["argv"]]
    assert len(calls) == len(set(calls))


def test_nothing_of_ours_lies_about_half_made(root):
    states = root.run('grep -L \'"status": "complete"\' /var/lib/ascend-fleet/*/*.json').stdout.split()
    assert states == []
    assert root.run("find /var/cache/ascend-fleet -type f -not -path '*/conda-pkgs/*'").stdout == ""
