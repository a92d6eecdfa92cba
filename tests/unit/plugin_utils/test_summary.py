"""The closing lines of a run."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import summary
from hypothesis import given
from hypothesis import strategies as st

READY = {"name": "chat", "port": 8000, "ready": True, "completion": "Paris\nis", "pending_restart": False}
FINDING = {
    "id": "cann.tree.incomplete",
    "severity": "error",
    "have": "a tree without ops.",
    "remedy": "Move it away.",
    "instance": None,
}


def record(host: str = "a2-1") -> summary.Record:
    return summary.Record(host)


def one(done: summary.Record, failures: int = 0, dark: int = 0, check: bool = False) -> summary.Line:
    return summary.line(done, failures, dark, check)


def test_ready_with_what_the_model_said() -> None:
    done = record()
    done.succeeded({"instances": [READY, dict(READY, name="embed", port=8001, completion=None)]}, True)
    assert one(done) == ("ready", "a2-1", 'chat:8000 "Paris is", embed:8001 (1 task changed)')


def test_ready_and_unchanged_also_in_check_mode() -> None:
    done = record()
    done.succeeded({"instances": [dict(READY, completion=None)]}, False)
    assert one(done) == one(done, check=True) == ("ready", "a2-1", "chat:8000 (unchanged)")


def test_an_instance_that_does_not_answer_is_not_ready() -> None:
    done = record()
    done.failed(
        "vllm_service : Bring", {"msg": "chat does not answer.", "instances": [dict(READY, ready=False)]}, False
    )
    assert one(done, failures=1) == ("failed", "a2-1", "vllm_service : Bring: chat does not answer.")


def test_a_completion_of_an_earlier_call_is_kept_and_a_long_one_cut() -> None:
    done = record()
    done.succeeded({"instances": [dict(READY, completion="x" * 100)]}, True)
    done.succeeded({"instances": [dict(READY, completion=None, pending_restart=True)]}, False)
    assert one(done).text == 'chat:8000 "%s\u2026", restart pending (1 task changed)' % ("x" * 59)


def test_check_mode_says_what_would_change() -> None:
    done = record()
    done.succeeded({"would": ["install a", "install b"]}, True)
    done.succeeded({"would": ["write c", "start d", "e"]}, True)
    assert one(done, check=True) == ("would change", "a2-1", "install a; install b; write c (and 2 more)")
    plain = record()
    plain.succeeded({}, True)
    assert one(plain, check=True).text == "1 task changed"


def test_check_mode_tells_the_steps_of_the_first_judgement() -> None:
    done = record()
    done.was_judged({"steps": {"cann": [{"do": "install a"}], "conda_env": [{"do": "make b"}, {"kind": "x"}, 3]}})
    done.was_judged({"steps": {"cann": [], "vllm_service": [{"do": "start c"}]}})
    done.succeeded({"would": ["copy"]}, True)
    assert one(done, check=True).text == "install a; make b; start c"


def test_a_host_that_was_only_judged_tells_what_was_found() -> None:
    done = record()
    done.was_judged({"counts": "2 warnings"})
    assert one(done) == ("unchanged", "a2-1", "with 2 warnings")
    done.was_judged({"counts": "nothing", "steps": "x"})
    assert one(done).text == ""


def test_refused_names_the_worst_finding_and_the_remedy() -> None:
    done = record()
    findings = [dict(FINDING, severity="warning", id="host.x.y"), FINDING, dict(FINDING, id="cann.eula.missing")]
    done.failed("preflight", {"msg": "Refused", "findings": findings}, True)
    assert one(done, failures=1) == (
        "refused",
        "a2-1",
        "cann.tree.incomplete: found a tree without ops. Move it away. (and 1 more)",
    )


def test_refused_without_findings_tells_the_message() -> None:
    done = record()
    done.failed("judge", {"msg": "ascend_release 0.99 is not known.\nmore"}, True)
    assert one(done, failures=1) == ("refused", "a2-1", "ascend_release 0.99 is not known.")


def test_failed_tells_the_task_and_the_first_line_also_of_a_loop() -> None:
    done = record()
    results = [{"failed": False, "msg": "fine"}, {"failed": True, "msg": "\n disk full. Free it.\ntail"}]
    done.failed("cann : Install", {"msg": "One or more items failed", "results": results}, False)
    assert one(done, failures=1).text == "cann : Install: disk full. Free it."


def test_a_rescued_failure_is_no_failure_and_the_last_one_counts() -> None:
    done = record()
    done.failed("first", {"msg": "a"}, False)
    assert one(done, failures=0).verdict == "unchanged"
    done.failed("second", {"msg": "b"}, False)
    assert one(done, failures=1).text == "second: b"


def test_unreachable_and_not_started() -> None:
    dark = record()
    dark.unreachable = "Connection timed out\nmore"
    assert one(dark, dark=1).text == "Connection timed out; try: ansible a2-1 -m ansible.builtin.ping"
    late = record()
    late.succeeded({}, True)
    late.stopped_at = "a3-1"
    assert one(late) == ("not started", "a2-1", "the waves stopped at a3-1")


def test_order_columns_and_total() -> None:
    lines = summary.ordered(
        [
            summary.Line("failed", "n2", "x"),
            summary.Line("ready", "n10", "y"),
            summary.Line("ready", "n1", "y"),
            summary.Line("unchanged", "long-name", ""),
        ]
    )
    assert summary.render(lines) == [
        "unchanged     long-name",
        "ready         n1         y",
        "ready         n10        y",
        "failed        n2         x",
    ]
    assert summary.total(lines, False) == (
        "4 hosts: 1 unchanged, 2 ready, 1 failed. After the repair, the same command with: -l n2"
    )
    assert summary.total(lines[:1], True) == "1 host: 1 unchanged. Check mode: nothing was changed."


def test_two_hundred_hosts_are_two_hundred_short_lines() -> None:
    lines = [summary.Line("failed", "node%03d" % number, "x") for number in range(199)] + [
        summary.Line("ready", "ok", "")
    ]
    assert len(summary.render(summary.ordered(lines))) == 200
    assert len(summary.total(lines, False)) < 250


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["would", "instances", "findings", "results", "msg", "name", "failed"]), inner
        )
    ),
)


@given(
    st.dictionaries(st.sampled_from(["would", "instances", "findings", "results", "msg", "steps", "counts"]), JSON),
    st.booleans(),
)
def test_no_result_breaks_a_line(result: dict[str, Any], judges: bool) -> None:
    done = record()
    done.succeeded(result, True)
    done.was_judged(result)
    done.failed("task", result, judges)
    for failures in (0, 1):
        for check in (False, True):
            made = one(done, failures, 0, check)
            assert made.verdict in summary.VERDICTS and "\n" not in made.text and len(made.text) <= summary.LIMIT


@pytest.mark.parametrize("verdict", summary.VERDICTS)
def test_every_verdict_has_a_color(verdict: str) -> None:
    callback = pytest.importorskip("ansible_collections.ascend.fleet.plugins.callback.summary")
    assert verdict in callback.COLORS
