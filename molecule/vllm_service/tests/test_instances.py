# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two instances on a simulated 910B4 server under real systemd: they answer, keep their secret, mind their cards."""

from __future__ import annotations

import hashlib
import json
import time

import pytest

testinfra_hosts = ["ansible://t_service"]

CHAT, PLAIN = "ascend-vllm-chat", "ascend-vllm-plain"
KEY = hashlib.sha256(b'k3y-"with$signs\\and`ticks').hexdigest()
CONFIG = "/etc/ascend-fleet/vllm"


@pytest.fixture
def unit():
    """The unit whose journal a failing test shows."""
    return CHAT


ASK = """
import os, sys, urllib.error, urllib.request
port, path, payload = sys.argv[1:]
request = urllib.request.Request("http://127.0.0.1:" + port + path, data=payload.encode() or None)
if "VLLM_API_KEY" in os.environ:
    request.add_header("Authorization", "Bearer " + os.environ["VLLM_API_KEY"])
try:
    with urllib.request.urlopen(request, timeout=10) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as answer:
    print(answer.code, answer.read().decode())
"""


def ask(host, port, path, payload=None, secrets="/dev/null"):
    """Status and body of a request from the node itself. The key is read there, or sudo would log it."""
    words = (secrets, ASK, str(port), path, json.dumps(payload) if payload else "")
    status, _blank, answer = host.check_output("set -a; . %s; python3 -c %s %s %s %s", *words).partition(" ")
    return int(status), answer


def journal(host, name):
    return host.check_output("journalctl --no-pager -o cat -u %s", name)


def wait(done, seconds=60):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(1)


@pytest.mark.parametrize("unit", [CHAT, PLAIN])
def test_the_units_run_now_and_after_a_reboot(root, unit):
    service = root.service(unit)
    assert service.is_running
    assert service.is_enabled
    assert root.check_output("systemd-analyze verify /etc/systemd/system/%s.service 2>&1", unit) == ""


def test_the_config_means_what_was_set(root):
    assert root.file(CONFIG + "/chat.yaml").content_string.splitlines()[1:] == [
        "port: 8101",
        "additional-config: '{\"enable_cpu_binding\": true}'",
        "no-enable-prefix-caching: true",
        "max-model-len: 4096",
        "served-model-name: ['tiny', 'tiny-also']",
        "tensor-parallel-size: 2",
    ]


def test_it_runs_as_its_own_user_with_the_device_group(root):
    pid = root.check_output("systemctl show -p MainPID --value %s", CHAT)
    groups = root.check_output("awk '/^Groups/' /proc/%s/status", pid).split()[1:]
    assert root.check_output("stat -c %%U /proc/%s", pid) == "vllm"
    assert str(root.group("HwHiAiUser").gid) in groups
    assert "HwHiAiUser" not in root.user("vllm").groups


def test_the_model_answers_with_the_key_alone(root):
    asked = {"model": "tiny", "prompt": "x"}
    assert ask(root, 8101, "/v1/completions", asked)[0] == 401
    status, body = ask(root, 8101, "/v1/completions", asked, CONFIG + "/chat.secrets")
    assert status == 200
    assert json.loads(body)["choices"][0]["text"] == " devices 0,1"


def test_the_other_instance_has_its_own_device_and_no_key(root):
    status, body = ask(root, 8102, "/v1/completions", {"model": "/srv/models/tiny", "prompt": "x"})
    assert status == 200
    assert json.loads(body)["choices"][0]["text"] == " devices 5"


def test_the_secret_is_for_root_and_nowhere_else(root):
    secrets = root.file(CONFIG + "/chat.secrets")
    assert (secrets.mode, secrets.user, secrets.group) == (0o600, "root", "root")
    assert root.check_output('. %s && printf %%s "$VLLM_API_KEY" | sha256sum', secrets.path).split()[0] == KEY
    assert not root.file(CONFIG + "/plain.secrets").exists
    # A pattern that does not match itself: sudo logs this command.
    found = root.run("grep -rl 'k[3]y-' /etc /var/lib /var/log /opt /run /tmp 2>/dev/null").stdout.split()
    assert found == [CONFIG + "/chat.secrets"]
    assert root.check_output("journalctl --no-pager -o export | grep -c 'k[3]y-' || true") == "0"


def test_the_state_says_what_was_made(root, state):
    made = state("vllm_service", "chat")
    assert made["status"] == "complete"
    assert made["have"]["served_name"] == "tiny"
    assert made["made"]["users"] == ["vllm"]
    for path in made["made"]["paths"]:
        assert root.file(path).exists, path


def test_npu_smi_is_never_called_twice_at_once(smi_calls):
    calls = sorted(smi_calls(), key=lambda call: call["start"])
    assert calls
    for before, after in zip(calls, calls[1:]):
        assert before["end"] <= after["start"]


def test_what_it_writes_stays_in_its_own_folder(root):
    folder = root.file("/var/lib/ascend-vllm/chat")
    assert (folder.mode, folder.user) == (0o750, "vllm")
    assert sorted(root.check_output("ls /var/lib/ascend-vllm/chat").split()) == ["cache", "log"]


def test_a_start_maps_the_ids_anew(root, fault):
    """As after a card was replaced: the same NPU has another logical id."""
    fault(devices={"5:0": {"logic": 6}, "6:0": {"logic": 5}})
    root.run_expect([0], "systemctl restart " + PLAIN)
    wait(lambda: "devices 5:0 are the logical ids 6;" in journal(root, PLAIN))
    asked = {"model": "/srv/models/tiny", "prompt": "x"}
    wait(lambda: "200" in root.run("curl -s -o /dev/null -w %{http_code} http://127.0.0.1:8102/health").stdout)
    assert json.loads(ask(root, 8102, "/v1/completions", asked)[1])["choices"][0]["text"] == " devices 6"


def test_a_device_that_somebody_took_refuses_the_start_with_the_table(root, fault):
    root.run_expect([0], "systemctl stop " + PLAIN)
    fault(processes=[{"device": "5:0", "pid": 1, "name": "python3"}])
    root.run_expect([0, 1], "systemctl start " + PLAIN)
    wait(lambda: not root.service(PLAIN).is_running)
    assert root.check_output("systemctl show -p ExecMainStatus --value %s", PLAIN) == "78"
    assert root.check_output("systemctl show -p ActiveState --value %s", PLAIN) == "failed"
    said = journal(root, PLAIN)
    assert "start refused: NPU 5 chip 0 is held by process 1 (python3)" in said
    assert "5:0       5" in said


def test_it_starts_again_when_the_device_is_free(root):
    root.run_expect([0], "systemctl start " + PLAIN)
    wait(lambda: "200" in root.run("curl -s -o /dev/null -w %{http_code} http://127.0.0.1:8102/health").stdout)
