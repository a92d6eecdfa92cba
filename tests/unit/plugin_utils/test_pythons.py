"""What a person reads whose node has no Python that Ansible can use."""

from __future__ import annotations

import subprocess
import sys

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import pythons

OLD = pythons.Python("/usr/bin/python3", (3, 7, 9))
OLDER = pythons.Python("/usr/bin/python3.6", (3, 6, 8))
NEW = pythons.Python("/opt/py/bin/python3.11", (3, 11, 4))
NEWER = pythons.Python("/opt/conda/bin/python3", (3, 12, 1))


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_look_runs_in_plain_shells_and_finds_the_used_one_first(shell: str) -> None:
    done = subprocess.run(
        [shell, "-c", pythons.look_command(sys.executable)], capture_output=True, text=True, check=True
    )
    found = pythons.parse(done.stdout)
    assert found[0] == pythons.Python(sys.executable, tuple(sys.version_info[:3]))
    assert done.stderr == ""


def test_a_hostile_interpreter_name_stays_one_word() -> None:
    done = subprocess.run(
        ["sh", "-c", pythons.look_command("/x; echo FOUND /evil 3.11.1")], capture_output=True, text=True, check=True
    )
    assert "/evil" not in done.stdout


def test_other_output_is_not_taken_for_a_python() -> None:
    noise = "Welcome\nFOUND relative 3.9.1\nFOUND /usr/bin/python3 3.x\n"
    noise += "FOUND /usr/bin/python3 3.7.9\r\nFOUND /usr/bin/python3 3.7.9"
    assert pythons.parse(noise) == [OLD]


def explain(used: str, found: list[pythons.Python], absent: bool = False) -> str | None:
    return pythons.explain(used, absent, found, (3, 9), "2.21.5")


def test_too_old_with_a_better_one_names_what_to_set() -> None:
    assert explain("/usr/bin/python3", [OLD, NEW, NEWER]) == (
        "The node's /usr/bin/python3 is Python 3.7.9, ansible-core 2.21.5 needs Python 3.9 or newer on the node. "
        "It has Python 3.12.1: set ansible_python_interpreter: /opt/conda/bin/python3 for this host."
    )


def test_too_old_alone_says_to_install_one() -> None:
    text = explain("/usr/bin/python3", [OLD, OLDER])
    assert text is not None
    assert "is Python 3.7.9" in text and "/usr/bin/python3.6 3.6.8, too old as well" in text
    assert text.endswith("Install a newer Python beside it and set ansible_python_interpreter to its path.")


def test_none_at_all() -> None:
    text = explain("/usr/bin/python3", [], absent=True)
    assert text is not None and text.startswith("The node has no Python 3, ansible-core 2.21.5 needs Python 3.9")


def test_a_wrong_setting_is_named() -> None:
    text = explain("/opt/gone/bin/python3", [NEW], absent=True)
    assert text is not None and text.startswith("The node has no /opt/gone/bin/python3,") and NEW.path in text


def test_another_failure_is_not_blamed_on_python() -> None:
    assert explain(NEW.path, [NEW, OLD]) is None
    assert explain("/root/closed/bin/python3", [OLD]) is None


def test_the_text_is_one_line() -> None:
    for found in ([], [OLD], [OLD, NEW]):
        assert "\n" not in (explain("/usr/bin/python3", found, absent=not found) or "\n")
