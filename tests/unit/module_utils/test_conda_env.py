# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _conda_env as subject
from ansible_collections.ascend.fleet.plugins.module_utils import _state
from ansible_collections.ascend.fleet.plugins.module_utils._work import Failed
from env_world import BASE, ROOT, Node

KEY = "0.23.0-1a2b3c4d"
PREFIX = "%s/%s" % (ROOT, KEY)
PINS = [("torch", "2.10.0+cpu"), ("torch-npu", "2.10.0.post4")]
INSTALLER = "/srv/ascend/Miniforge3.sh"


@pytest.fixture
def node(tmp_path):
    node = Node(tmp_path)
    node.file(INSTALLER, "installer")
    node.conda()
    return node


def want(**more):
    asked = {
        "base": BASE,
        "installer": INSTALLER,
        "installer_sha256": "",
        "prefix": PREFIX,
        "key": KEY,
        "python": "3.12",
        "channels": ["/srv/channel"],
        "offline": True,
        "packages": ["%s==%s" % pin for pin in PINS],
        "pip": {"no_index": True},
        "find_links": "/srv/wheels",
        "timeout": 60,
    }
    asked.update(more)
    return subject.Want(**asked)


def run(node, asked):
    """What the module does."""
    seen = subject.look(node.runner, asked)
    reason = subject.refusal(seen, asked)
    assert reason is None, reason
    return subject.apply(node.runner, asked, seen)


def test_a_bare_node_gets_conda_env_and_packages(node):
    seen = subject.look(node.runner, want())
    assert (seen.base, seen.env) == ("absent", "absent")
    assert subject.steps(seen, want()) == [
        "install conda to %s" % BASE,
        "create the env %s with Python 3.12" % PREFIX,
        "install torch==2.10.0+cpu, torch-npu==2.10.0.post4",
    ]
    run(node, want())
    state = _state.load(node.runner, "conda_env", KEY)
    assert state["status"] == "complete"
    assert state["have"] == {"prefix": PREFIX, "python": "3.12.4", "packages": dict(PINS)}
    assert state["made"]["paths"] == [PREFIX]
    base = _state.load(node.runner, "conda_env", "base")
    assert base["have"] == {"prefix": BASE, "conda": "24.7.1"}
    assert not node.runner.exists("/var/cache/ascend-fleet/work/conda_env")
    assert not node.runner.exists("/var/cache/ascend-fleet/conda-pkgs")


def test_a_package_for_other_pythons_is_not_missed(node):
    run(node, want(packages=["torch==2.10.0+cpu", "tomli; python_version < '3.11'"]))
    assert list(_state.load(node.runner, "conda_env", KEY)["have"]["packages"]) == ["torch"]


def test_the_second_look_has_nothing_to_do_and_starts_nothing(node):
    run(node, want())
    node.calls = []
    seen = subject.look(node.runner, want())
    assert subject.steps(seen, want()) == []
    assert subject.refusal(seen, want()) is None
    assert node.calls == []


def test_pip_gets_the_wheels_and_limits_and_conda_its_own_settings(node):
    run(node, want())
    pip = node.called("-m pip install")[0]
    assert pip[4:8] == ["--no-index", "--find-links", "/srv/wheels", "--constraint"]
    environment = node.environments[node.calls.index(node.called("conda create")[0])]
    assert environment["CONDA_PKGS_DIRS"] == "/var/cache/ascend-fleet/conda-pkgs"
    assert environment["CONDARC"].startswith("/var/cache/ascend-fleet/work/")
    assert environment["PYTHONDONTWRITEBYTECODE"] == "1"


def test_a_foreign_conda_is_used_and_gets_no_state(node):
    node.file(BASE + "/bin/conda", mode=0o755)
    made = run(node, want(installer=""))
    assert made["base"] == {"prefix": BASE, "conda": "24.7.1"}
    assert not node.called("^bash")
    assert _state.load(node.runner, "conda_env", "base") is None


def test_a_begun_env_is_made_again(node):
    node.env(PREFIX, packages=[("junk", "1")])
    node.state("conda_env", KEY, {"prefix": PREFIX}, "installing")
    assert subject.look(node.runner, want()).env == "half"
    run(node, want())
    assert "junk" not in subject._envs.gather(node.runner, PREFIX)["packages"]


def test_a_begun_conda_is_made_again(node):
    node.file(BASE + "/bin/conda", mode=0o755)
    node.file(BASE + "/half", "x")
    node.state("conda_env", "base", {"prefix": BASE}, "installing")
    assert subject.look(node.runner, want()).base == "half"
    run(node, want())
    assert not node.runner.exists(BASE + "/half")


def test_a_changed_package_is_put_right_in_place(node):
    run(node, want())
    node.dist(PREFIX, "torch", "2.9.0")
    node.dist(PREFIX, "vllm", "0.23.0")
    node.calls = []
    seen = subject.look(node.runner, want())
    assert subject.steps(seen, want()) == ["change torch from 2.9.0 to 2.10.0+cpu"]
    run(node, want())
    assert not node.called("conda create")
    packages = subject._envs.gather(node.runner, PREFIX)["packages"]
    assert (packages["torch"], packages["vllm"]) == ("2.10.0+cpu", "0.23.0")


def test_another_python_line_makes_the_env_again(node):
    run(node, want())
    asked = want(python="3.11")
    assert subject.look(node.runner, asked).env == "other"
    node.conda("3.11.7")
    node.rules.append((r"-m pip install ", lambda argv: install_for_311(node)))
    run(node, asked)
    assert _state.load(node.runner, "conda_env", KEY)["have"]["python"] == "3.11.7"


def install_for_311(node):
    for name, version in PINS:
        node.dist(PREFIX, name, version, "3.11")
    return 0, "", ""


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (lambda node: node.env(PREFIX), "was not made by this collection"),
        (lambda node: node.file(_state.path_of("conda_env", KEY), "{torn"), "damaged"),
        (lambda node: node.file(BASE + "/data", "x"), "holds no working conda"),
    ],
)
def test_what_is_not_ours_stays(node, prepare, words):
    prepare(node)
    seen = subject.look(node.runner, want())
    assert words in subject.refusal(seen, want())
    assert node.calls == []


def test_an_env_in_use_is_not_changed(node):
    run(node, want())
    node.state("vllm_service", "chat", {"runtime": KEY})
    node.dist(PREFIX, "torch", "2.9.0")
    seen = subject.look(node.runner, want())
    assert "instances chat" in subject.refusal(seen, want())


def test_an_env_in_use_by_another_runtime_in_it_is_not_changed(node):
    run(node, want())
    node.state("vllm_ascend", "other", {"prefix": PREFIX})
    node.state("vllm_service", "chat", {"runtime": "other"})
    node.undist(PREFIX, "torch")
    seen = subject.look(node.runner, want())
    assert "instances chat" in subject.refusal(seen, want())


def test_a_long_list_of_packages_is_told_in_short(node):
    asked = want(packages=["p%d" % number for number in range(40)])
    told = subject.steps(subject.look(node.runner, asked), asked)[-1]
    assert told == "install p0, p1, p2, p3, p4, p5 and 34 more"


def test_no_installer_is_no_trouble_for_a_plan(node):
    asked = want(installer="")
    seen = subject.look(node.runner, asked)
    assert "no installer" in subject.refusal(seen, asked)
    assert subject.refusal(seen, asked, planned=True) is None


@pytest.mark.parametrize("more", [{"prefix": "/opt/x/base"}, {"channels": ["/srv/a.conda"]}, {"key": "base"}])
def test_names_that_conda_or_our_states_reserve_are_refused(node, more):
    asked = want(**more)
    assert subject.refusal(subject.look(node.runner, asked), asked)


def test_a_wrong_installer_is_not_run(node):
    with pytest.raises(Failed, match="wanted is aaaa"):
        run(node, want(installer_sha256="aaaa"))
    assert not node.called("^bash")


def test_a_failed_pip_leaves_a_begun_state_and_says_why(node):
    node.on("-m pip install", (1, "", "ERROR: No matching distribution found for torch==2.10.0+cpu"))
    with pytest.raises(Failed, match="CPU index") as caught:
        run(node, want())
    assert caught.value.log[-1].startswith("ERROR: No matching")
    assert _state.load(node.runner, "conda_env", KEY)["status"] == "installing"
    assert subject.look(node.runner, want()).env == "half"


def test_a_pip_that_installs_something_else_is_found_out(node):
    node.on("-m pip install")
    with pytest.raises(Failed, match="holds torch absent instead of"):
        run(node, want())


def test_another_torch_in_the_path_is_found_out(node):
    said = 'ascend-fleet {"python": "3.12.4", "torch": "2.1.0"}'
    node.on(r"/python -c", (0, said, ""))
    with pytest.raises(Failed, match=r"imports torch 2\.1\.0"):
        run(node, want())


def test_a_place_without_exec_is_refused_before_conda(node, monkeypatch):
    monkeypatch.setattr(node.runner, "space", lambda path: {"noexec": path == PREFIX})
    with pytest.raises(Failed, match="noexec"):
        run(node, want())
    assert node.calls == []


def test_a_base_at_a_new_place_keeps_what_is_known_of_the_old_one(node):
    run(node, want())
    run(node, want(base="/data/conda", key="other", prefix=ROOT + "/other"))
    state = _state.load(node.runner, "conda_env", "base")
    assert state["have"]["prefix"] == "/data/conda"
    assert state["previous"]["made"]["paths"] == [BASE]


@pytest.mark.parametrize("out", ["", "ascend-fleet {torn", "ascend-fleet []", "other"])
def test_a_proof_that_says_nothing_proves_nothing(out):
    assert subject.marked(out) == {}
