# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import shutil

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _build, _envs, _runtime_env, _script_env, _state
from ansible_collections.ascend.fleet.plugins.module_utils import _runtime as subject
from ansible_collections.ascend.fleet.plugins.module_utils._work import Failed
from env_world import CANN_ENV, ROOT, Node, sdist, wheel

ID = "0.23.0-1a2b3c4d"
PREFIX = "%s/%s" % (ROOT, ID)
ENV_FILE = "/etc/ascend-fleet/runtimes/%s.env" % ID
WHEELS = "/opt/ascend-fleet/wheels/" + ID
PINS = ("torch==2.10.0+cpu", "torch-npu==2.10.0.post4", "numpy>=1.26", "transformers==5.5.4")
CANN = {"ASCEND_HOME_PATH": "/usr/local/Ascend/cann-9.1.0", "PATH": "/usr/local/Ascend/cann-9.1.0/bin:/usr/bin"}
ASKED = {
    "vllm": ["transformers>=5", "xgrammar", "triton>=3; platform_machine == 'x86_64'"],
    "vllm-ascend": ["torch==2.10.0", "torch-npu==2.9.0", "triton-ascend==3.2.2", "numpy<3", "einops"],
}


class World(Node):
    """A node with CANN and env, where builds leave wheels and vllm answers."""

    def __init__(self, root):
        Node.__init__(self, root)
        self.abi, self.shown, self.inside, self.device = 1, "0.23.0", "0.23.0", "A2"
        self.built = []
        self.file(CANN_ENV, _script_env.render(CANN, "test"))
        self.env(PREFIX, packages=[("torch", "2.10.0+cpu"), ("torch-npu", "2.10.0.post4"), ("triton", "3.5.0")])
        self.state("conda_env", ID, {"prefix": PREFIX})
        for name in ("vllm", "vllm-ascend"):
            sdist(self.path("/srv/%s.tar.gz" % name), name, "0.23.0", pyproject="[build-system]")
        self.conda()
        self.on("^install -m", self._keep)
        self.on("-m pip wheel", self._wheel)
        self.on("(?s)python -c .*tomllib", (0, "setuptools>=77\ntorch==2.11.0\n", ""))
        self.on("python -c .*cxx11_abi", lambda argv: (0, 'ascend-fleet {"abi": %d}' % self.abi, ""))
        self.on("^env -i .*/vllm --version", lambda argv: (0, "INFO plugin\n%s\n" % self.shown, ""))
        self.on("^env -i .*python -c .*vllm", lambda argv: (0, 'ascend-fleet {"vllm": "%s"}' % self.inside, ""))

    def _wheel(self, argv):
        name = os.path.basename(argv[argv.index("--wheel-dir") + 1])[len("wheel-") :]
        file_name = "%s-0.23.0-py3-none-any.whl" % name.replace("-", "_")
        wheel(self.path("%s/%s" % (argv[argv.index("--wheel-dir") + 1], file_name)), name, "0.23.0", ASKED[name])
        self.built.append((name, self.environments[-1]))
        if name == "vllm-ascend":
            self.file(
                PREFIX + "/lib/python3.12/site-packages/vllm_ascend/_build_info.py",
                "# made\n__device_type__ = '%s'\n" % self.device,
            )
        return 0, "", ""

    def _keep(self, argv):
        shutil.copy(self.path(argv[-2]), self.path(argv[-1]))
        return 0, "", ""


@pytest.fixture
def node(tmp_path):
    return World(tmp_path)


def want(**more):
    asked = {
        "id": ID,
        "release": "0.23.0",
        "family": "910b",
        "prefix": PREFIX,
        "sources": [
            {"name": name, "version": "0.23.0", "src": "/srv/%s.tar.gz" % name} for name in ("vllm", "vllm-ascend")
        ],
        "cann_env_file": CANN_ENV,
        "env_file": ENV_FILE,
        "wheels": WHEELS,
        "cxx_abi": 1,
        "soc_version": "ascend910b1",
        "custom_kernels": True,
        "max_jobs": 4,
        "build_env": {"VERBOSE": "1"},
        "requirements": [],
        "triton_ascend": "3.2.2",
        "pins": PINS,
        "dependencies": "resolve",
        "pip": {"no_index": True},
        "find_links": "/srv/wheels",
        "timeout": 60,
    }
    asked.update(more)
    return subject.Want(**asked)


def run(node, asked):
    """What the module does."""
    seen = subject.look(node.runner, asked)
    reason = subject.refusal(node.runner, seen, asked)
    assert reason is None, reason
    return subject.apply(node.runner, asked, seen)


def test_a_runtime_is_built_installed_written_and_proved(node):
    seen = subject.look(node.runner, want())
    assert subject.steps(seen, want()) == [
        "build vllm 0.23.0 without device code",
        "build vllm-ascend 0.23.0 for ascend910b1 with custom kernels",
        "install both into %s" % PREFIX,
        "install triton-ascend 3.2.2 last",
        "write %s" % ENV_FILE,
        "prove the runtime %s" % ID,
    ]
    have = run(node, want())
    assert have == {
        "id": ID,
        "kind": "native",
        "release": "0.23.0",
        "family": "910b",
        "exec": [PREFIX + "/bin/vllm"],
        "env_file": ENV_FILE,
        "prefix": PREFIX,
        "versions": {
            "vllm": "0.23.0",
            "vllm_ascend": "0.23.0",
            "torch": "2.10.0+cpu",
            "torch_npu": "2.10.0.post4",
            "triton_ascend": "3.2.2",
            "transformers": "5.5.4",
            "numpy": None,
            "python": "3.12.4",
            "cann": "9.1.0",
        },
        "device_type": "A2",
    }
    state = _state.load(node.runner, "vllm_ascend", ID)
    assert (state["status"], state["origin"]) == ("complete", "installed")
    assert state["made"]["paths"] == [ENV_FILE, WHEELS, PREFIX + "/bin/vllm"]
    assert _state.drift(node.runner, state) == []


def test_the_second_look_has_nothing_to_do_and_starts_nothing(node):
    run(node, want())
    node.calls = []
    assert subject.steps(subject.look(node.runner, want()), want()) == []
    assert node.calls == []


def test_each_build_gets_its_own_environment(node):
    run(node, want())
    (first, vllm), (second, ascend) = node.built
    assert (first, second) == ("vllm", "vllm-ascend")
    for variables in (vllm, ascend):
        assert variables["PATH"].startswith(PREFIX + "/bin:/usr/local/Ascend/cann-9.1.0/bin:")
        assert variables["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "0"
        assert variables["ASCEND_HOME_PATH"] == "/usr/local/Ascend/cann-9.1.0"
        assert (variables["MAX_JOBS"], variables["VERBOSE"]) == ("4", "1")
        assert variables["TMPDIR"] == "/var/cache/ascend-fleet/work/vllm_ascend/tmp"
    assert vllm["VLLM_TARGET_DEVICE"] == "empty"
    assert vllm["VLLM_VERSION_OVERRIDE"] == "0.23.0"
    assert "SOC_VERSION" not in vllm
    assert (ascend["SOC_VERSION"], ascend["COMPILE_CUSTOM_KERNELS"]) == ("ascend910b1", "1")


def test_the_rows_pins_win_and_triton_comes_last(node):
    run(node, want())
    pip = [argv[4:] for argv in node.called("-m pip (install|uninstall)")]
    dependencies = pip[2]
    assert dependencies[dependencies.index("--constraint") + 2:] == [
        "transformers==5.5.4", "xgrammar", "torch==2.10.0+cpu", "torch-npu==2.10.0.post4", "numpy<3", "einops",
    ]  # fmt: skip
    assert [word.rsplit("/", 1)[-1] for word in pip[3][-2:]] == [
        "vllm-0.23.0-py3-none-any.whl", "vllm_ascend-0.23.0-py3-none-any.whl",
    ]  # fmt: skip
    assert pip[4] == ["--yes", "triton"]
    assert pip[5][-1] == "triton-ascend==3.2.2"
    assert len(pip) == 6


def test_build_requirements_leave_out_what_is_pinned(node):
    run(node, want())
    words = node.called("-m pip install")[0]
    assert words[words.index("--constraint") + 2 :] == ["setuptools>=77", "torch==2.10.0+cpu"]


def test_without_a_triton_pin_there_is_no_triton_at_all(node):
    asked = want(triton_ascend="", family="310p", soc_version="ascend310p1")
    node.device = "_310P"
    assert "remove triton" in subject.steps(subject.look(node.runner, asked), asked)
    run(node, asked)
    assert "triton" not in _envs.gather(node.runner, PREFIX)["packages"]
    assert not node.called("triton-ascend==")


def test_dependencies_can_be_skipped(node):
    run(node, want(dependencies="skip"))
    pip = [argv[4:] for argv in node.called("-m pip install")]
    assert all("--no-deps" in argv for argv in pip[1:])
    assert not node.called("xgrammar")


def test_wheels_of_the_same_inputs_are_used_again(node):
    run(node, want())
    _state.forget(node.runner, "vllm_ascend", ID)
    node.built = []
    run(node, want())
    assert node.built == []


@pytest.mark.parametrize(
    "change",
    [
        lambda node: node.file(CANN_ENV, _script_env.render(dict(CANN, MORE="1"), "test")),
        lambda node: node.dist(PREFIX, "torch", "2.10.1"),
        lambda node: sdist(node.path("/srv/vllm.tar.gz"), "vllm", "0.23.0", pyproject="[build-system]\n"),
        lambda node: node.file("%s/vllm-0.23.0-py3-none-any.whl" % WHEELS, "damaged"),
        lambda node: node.file(WHEELS + "/build.json", "{torn"),
    ],
)
def test_wheels_of_other_inputs_are_built_anew(node, change):
    run(node, want())
    _state.forget(node.runner, "vllm_ascend", ID)
    node.built = []
    change(node)
    run(node, want())
    assert [name for name, _environment in node.built] == ["vllm", "vllm-ascend"]


def test_a_changed_environment_file_is_written_again_and_nothing_else(node):
    run(node, want())
    node.state("vllm_service", "chat", {"runtime": ID})
    node.file(ENV_FILE, "by hand")
    node.calls = []
    seen = subject.look(node.runner, want())
    assert subject.steps(seen, want()) == ["write %s" % ENV_FILE]
    have = run(node, want())
    assert have["versions"]["vllm"] == "0.23.0"
    assert node.calls == []
    assert subject.look(node.runner, want()).runtime == "complete"


@pytest.mark.parametrize("status", ["installing", "complete"])
def test_a_runtime_that_is_not_whole_is_made_again(node, status):
    run(node, want())
    state = _state.load(node.runner, "vllm_ascend", ID)
    _state.save(node.runner, state, status)
    if status == "complete":
        node.undist(PREFIX, "vllm-ascend")
    assert subject.look(node.runner, want()).runtime == {"installing": "half", "complete": "differs"}[status]
    run(node, want())
    assert subject.look(node.runner, want()).runtime == "complete"


def test_a_runtime_in_use_is_not_changed(node):
    run(node, want())
    node.state("vllm_service", "chat", {"runtime": ID})
    node.undist(PREFIX, "vllm")
    seen = subject.look(node.runner, want())
    assert "instances chat" in subject.refusal(node.runner, seen, want())


@pytest.mark.parametrize(
    ("prepare", "more", "words"),
    [
        (lambda node: os.unlink(node.path(CANN_ENV)), {}, "Run the role cann first"),
        (lambda node: None, {"prefix": "/opt/none"}, "Run the role conda_env first"),
        (lambda node: node.state("conda_env", ID, {"prefix": PREFIX}, "installing"), {}, "the role conda_env again"),
        (lambda node: node.file(_state.path_of("vllm_ascend", ID), "{torn"), {}, "damaged"),
        (lambda node: os.unlink(node.path("/srv/vllm.tar.gz")), {}, "not at /srv/vllm.tar.gz"),
        (lambda node: None, {"sources": []}, "No source of vllm and vllm-ascend"),
    ],
)
def test_what_is_missing_below_is_named(node, prepare, more, words):
    prepare(node)
    asked = want(**more)
    assert words in subject.refusal(node.runner, subject.look(node.runner, asked), asked)
    assert node.calls == []


def test_a_foreign_env_that_fits_is_used_as_it_is(node):
    node.env("/data/env", packages=[("vllm", "0.23.0"), ("vllm-ascend", "0.23.0"), ("triton-ascend", "3.2.2")])
    node.file("/data/env/bin/vllm", mode=0o755)
    node.file("/data/env/lib/python3.12/site-packages/vllm_ascend/_build_info.py", "__soc_version__ = 'ASCEND910B1'")
    asked = want(prefix="/data/env")
    assert subject.steps(subject.look(node.runner, asked), asked) == [
        "use the env /data/env as it is",
        "write %s" % ENV_FILE,
    ]
    assert run(node, asked)["exec"] == ["/data/env/bin/vllm"]
    state = _state.load(node.runner, "vllm_ascend", ID)
    assert (state["origin"], state["made"]["paths"]) == ("adopted", [ENV_FILE])
    assert not node.called("-m pip")
    assert subject.look(node.runner, asked).runtime == "complete"


def test_a_foreign_env_that_does_not_fit_stays(node):
    node.env("/data/env", packages=[("vllm", "0.22.0")])
    asked = want(prefix="/data/env")
    reason = subject.refusal(node.runner, subject.look(node.runner, asked), asked)
    assert "vllm 0.22.0 instead of 0.23.0, vllm-ascend absent instead of 0.23.0" in reason


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("abi", 0, "has the C\\+\\+ ABI 0, the CANN environment was made for 1"),
        ("shown", "0.23.1.dev0+g123", "vllm-ascend works only with exactly 0.23.0"),
        ("inside", "0.23.0+empty", "0.23.0\\+empty inside"),
        ("device", "A3", "was built for A3, the chips here are A2"),
        ("device", "", "was built for no chip that it tells"),
    ],
)
def test_a_runtime_that_does_not_fit_does_not_count(node, attribute, value, words):
    setattr(node, attribute, value)
    with pytest.raises(Failed, match=words):
        run(node, want())
    assert _state.load(node.runner, "vllm_ascend", ID)["status"] == "installing"


def test_a_build_that_leaves_another_wheel_is_found_out(node):
    def other(argv):
        wheel(node.path(argv[argv.index("--wheel-dir") + 1] + "/vllm-0.0.0-py3-none-any.whl"), "vllm", "0.0.0")
        return 0, "", ""

    node.on("-m pip wheel", other)
    with pytest.raises(Failed, match=r"left vllm-0\.0\.0-py3-none-any\.whl"):
        run(node, want())


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04cut", b"text"])
def test_a_broken_wheel_tells_nothing(node, content):
    node.file("/x.whl")
    with open(node.path("/x.whl"), "wb") as handle:
        handle.write(content)
    assert _build.metadata(node.runner, "/x.whl") == {}
    assert _build.metadata(node.runner, "/none.whl") == {}


def test_the_environment_of_a_runtime_needs_no_shell(node):
    os.makedirs(node.path("/usr/local/Ascend/driver/lib64/driver"))
    cann = {"PATH": "/cann/bin::/usr/bin", "LD_LIBRARY_PATH": "/cann/lib64", "X": 'a "b" $c'}
    variables = _runtime_env.variables(node.runner, cann, "/e")
    assert variables["PATH"] == "/e/bin:/cann/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin"
    assert variables["LD_LIBRARY_PATH"] == (
        "/cann/lib64:/usr/local/Ascend/driver/lib64:/usr/local/Ascend/driver/lib64/driver"
    )
    assert _script_env.parse(_runtime_env.text(node.runner, cann, "/e", "id")) == variables
    assert "LD_LIBRARY_PATH" not in _runtime_env.variables(Node(node.root + "/other").runner, {}, "/e")
