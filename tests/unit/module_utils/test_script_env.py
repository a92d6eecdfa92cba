# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts are sourced by a real bash here; paths are resolved in a folder that stands for the node."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _script_env as script_env
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner
from hypothesis import given
from hypothesis import strategies as st

ROOT = "/usr/local/Ascend"
TREE = ROOT + "/cann-9.1.0"
PINS = {
    ROOT + "/cann": TREE,
    ROOT + "/ascend-toolkit/latest": TREE,
    ROOT + "/nnal/atb/latest": ROOT + "/nnal/atb/9.1.0",
}


def run_command(argv, *, environ_update=None, cwd=None, **_more):
    env = dict(
        os.environ, ASCEND_HOME_PATH="/somebody/elses", LD_LIBRARY_PATH="/somebody/elses/lib", **(environ_update or {})
    )
    done = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "replace")


@pytest.fixture
def here():
    return Runner(run_command)


@pytest.fixture
def node(tmp_path):
    (tmp_path / "usr/local/Ascend/cann-9.1.0/x86_64-linux/lib64").mkdir(parents=True)
    (tmp_path / "usr/local/Ascend/cann-9.1.0/lib64").symlink_to("x86_64-linux/lib64")
    (tmp_path / "usr/local/Ascend/cann").symlink_to("cann-9.2.0")
    return Runner(run_command, str(tmp_path))


def script(tmp_path, text, name="set_env.sh"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


# running --------------------------------------------------------------------------------------------------------------


def test_only_what_the_scripts_set_and_nothing_of_the_caller(here, tmp_path):
    path = script(
        tmp_path, "export ASCEND_OPP_PATH=/x/opp\nexport LD_LIBRARY_PATH=/x/lib64:$LD_LIBRARY_PATH\nlocal_only=1\n"
    )
    assert script_env.capture(here, [script_env.Script(path)]) == {
        "ASCEND_OPP_PATH": "/x/opp",
        "LD_LIBRARY_PATH": "/x/lib64:",
    }


def test_scripts_that_break_under_strict_modes(here, tmp_path):
    text = 'false\n[ -n "$NEVER_SET" ]\nset -eu\nexport A=1\nfalse || true\nreturn 3\n'
    again = script(tmp_path, 'false\nexport B="$NOT_SET$A"\n', "second.sh")
    assert script_env.capture(here, [script_env.Script(script(tmp_path, text)), script_env.Script(again)]) == {
        "A": "1",
        "B": "1",
    }


def test_arguments_reach_their_script_only(here, tmp_path):
    text = 'export SEEN="$SEEN[$*]"\n'
    one, two = script(tmp_path, text, "one"), script(tmp_path, text, "two")
    found = script_env.capture(here, [script_env.Script(one, ("--cxx_abi=1", "a b")), script_env.Script(two)])
    assert found["SEEN"] == "[--cxx_abi=1 a b][]"


def test_output_and_questions_do_no_harm(here, tmp_path):
    text = 'echo noise; printf "x=1\\0"; read -r answer; export ANSWER="<$answer>"\nf() { :; }; export -f f\n'
    assert script_env.capture(here, [script_env.Script(script(tmp_path, text))]) == {"ANSWER": "<>"}


def test_a_name_with_quotes_and_blanks_is_a_name(here, tmp_path):
    path = script(tmp_path, "export A=1\n", "it's $(here) a.sh")
    assert script_env.capture(here, [script_env.Script(path)]) == {"A": "1"}


@pytest.mark.parametrize("text, words", [("echo why >&2; exit 7", "status 7: why"), ("kill -9 $$", "ended the shell")])
def test_a_script_that_ends_the_shell(here, tmp_path, text, words):
    with pytest.raises(script_env.EnvError, match=words):
        script_env.capture(here, [script_env.Script(script(tmp_path, text))])


def test_a_script_that_hangs(here, tmp_path):
    with pytest.raises(script_env.EnvError, match="took over 1 s"):
        script_env.capture(here, [script_env.Script(script(tmp_path, "sleep 20"))], timeout=1)


@given(st.text(max_size=200))
def test_splitting_never_raises(text):
    assert all(isinstance(dump, dict) for dump in script_env.split_dumps(text))


# cleaning -------------------------------------------------------------------------------------------------------------


def test_search_paths_lose_empty_and_repeated_elements_and_moving_links(node):
    env = {
        "LD_LIBRARY_PATH": ":%s/cann/lib64::/usr/lib:%s/ascend-toolkit/latest/lib64:" % (ROOT, ROOT),
        "ATB_HOME_PATH": ROOT + "/nnal/atb/latest/atb/cxx_abi_1",
        "ATB_SHARE_MEMORY_NAME_SUFFIX": "",
        "URL": "http://x:1/y",
        "LCCL": "0",
    }
    cleaned, left_out = script_env.clean(node, env, [ROOT], PINS)
    assert cleaned == {
        "LD_LIBRARY_PATH": TREE + "/x86_64-linux/lib64:/usr/lib",
        "ATB_HOME_PATH": ROOT + "/nnal/atb/9.1.0/atb/cxx_abi_1",
        "ATB_SHARE_MEMORY_NAME_SUFFIX": "",
        "URL": "http://x:1/y",
        "LCCL": "0",
    }
    assert left_out == []


def test_what_hangs_on_the_home_is_left_out(here, node, tmp_path):
    found = script_env.capture(here, [script_env.Script(script(tmp_path, "export LOG=~ P=/a:~/b A=1\n"))])
    assert script_env.clean(node, found, [ROOT], PINS) == ({"A": "1"}, ["LOG", "P"])


def test_a_link_outside_the_pins_is_followed_and_a_circle_is_said(node, tmp_path):
    (tmp_path / "usr/local/Ascend/alias").symlink_to(ROOT + "/cann-9.1.0")
    (tmp_path / "usr/local/Ascend/round").symlink_to("round")
    assert script_env.clean(node, {"P": ROOT + "/alias/opp"}, [ROOT], PINS)[0] == {"P": TREE + "/opp"}
    with pytest.raises(script_env.EnvError, match="circle of links"):
        script_env.clean(node, {"P": ROOT + "/round/x"}, [ROOT], PINS)


def test_a_path_that_still_moves_is_refused(node, tmp_path):
    (tmp_path / "usr/local/Ascend/alias").symlink_to("cann")
    (tmp_path / "usr/local/Ascend/cann").unlink()
    with pytest.raises(script_env.EnvError, match="moves with the next install"):
        script_env.clean(node, {"P": ROOT + "/alias/opp"}, [ROOT], PINS)


def test_a_root_behind_a_link_is_named_as_it_was_asked_for(tmp_path):
    (tmp_path / "data/Ascend/cann-9.1.0").mkdir(parents=True)
    (tmp_path / "usr/local").mkdir(parents=True)
    (tmp_path / "usr/local/Ascend").symlink_to(tmp_path / "data/Ascend")
    node = Runner(run_command, str(tmp_path))
    env = {"ASCEND_HOME_PATH": "/data/Ascend/cann-9.1.0"}
    assert script_env.clean(node, env, [ROOT], PINS)[0] == {"ASCEND_HOME_PATH": TREE}


@pytest.mark.parametrize("value", ["two\nlines", "bell\x07", "\udce4"])
def test_values_that_cannot_stand_in_the_file(node, value):
    with pytest.raises(script_env.EnvError, match="control character"):
        script_env.clean(node, {"A": value}, [ROOT], PINS)


def test_folders_that_must_be_there(node):
    script_env.need_folders(node, {"H": TREE + "/x86_64-linux"}, {"H": TREE})
    for env, words in (({}, "do not set H"), ({"H": ROOT}, "wanted is a folder in"), ({"H": TREE + "/none"}, "wanted")):
        with pytest.raises(script_env.EnvError, match=words):
            script_env.need_folders(node, env, {"H": TREE})


# the file -------------------------------------------------------------------------------------------------------------

VALUES = st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0xD7FF), max_size=60)


@given(st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True), VALUES, max_size=5))
def test_what_is_rendered_is_parsed_back(env):
    assert script_env.parse(script_env.render(env, "comment")) == env


@given(st.text(max_size=200))
def test_parsing_never_raises(text):
    assert isinstance(script_env.parse(text), dict)


def test_bash_reads_the_file_as_it_was_meant(tmp_path):
    env = {
        "A": 'q"uote',
        "B": "back\\slash",
        "C": "$HOME `id` $(id)",
        "D": "it's # no comment; !x",
        "E": " blanks  ",
        "F": "",
    }
    path = Path(script(tmp_path, script_env.render(env, "c"), "file.env"))
    out = subprocess.run(
        ["env", "-i", "bash", "-c", 'set -a; . "$1"; exec /usr/bin/env -0', "x", str(path)],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    seen = dict(item.split("=", 1) for item in out.split("\0") if item)
    assert {name: seen.get(name) for name in env} == env
