"""The benchmarks measure what they say: every variant does its job, an answer that is wrong is found out, and the table
reckons right. What a clock says is asserted nowhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import in_process_report, jobs, load, over_stdio, plans, promises, table
from benchmarks.environments import Environments
from benchmarks.in_process import ours_view, variants
from benchmarks.jobs import JOBS, Job, WrongAnswer
from benchmarks.machine import Others
from benchmarks.messages import Era, answered
from benchmarks.over_http import Rounds
from benchmarks.servers import ours
from benchmarks.setups import Setup
from benchmarks.table import Group, Sheet

from .environs import ROOT
from .snippets import blocks_of

OURS = [f"ours {era.value}" for era in Era]


class Here(Environments):
    """The environment that the tests run in, in place of those that a run makes."""

    def programs(self, name: str) -> Path:
        return Path(sys.executable).parent


@pytest.fixture(scope="module")
def groups() -> list[Group]:
    """All that is measured in process, each for as short as it can be."""
    return in_process_report.report(rounds=2, seconds=0.0)


def test_every_variant_does_its_job() -> None:
    """Ours in both eras, the plain views and the floor give a job's data, and credentials are taken."""
    found = variants()  # raises for one that does not
    assert {f"{job.name}: {of}" for job in JOBS for of in ("floor", "same job", *OURS)} <= set(found)
    assert {f"add: {of}, {kind}" for kind in ("session", "bearer") for of in ("same job", *OURS)} <= set(found)


@pytest.mark.parametrize("job", [*JOBS, jobs.taking(1), jobs.giving(1), jobs.rows(2)], ids=lambda job: job.name)
def test_a_wrong_answer_is_found_out(job: Job) -> None:
    """A job takes its own answer, and none in which anything of it is missing or is not so."""
    answer = answered(ours_view(ours.create_app(Setup()), job, Era.HANDSHAKE)())
    job.judge(answer)
    result = answer["result"]
    wrong = [{**result, "isError": not result.get("isError")}] if "content" in result else []
    wrong += [{**result, name: _changed(result[name])} for name in result if name != "isError"]
    assert len(wrong) >= len(result)
    for each in wrong:
        with pytest.raises(WrongAnswer):
            job.judge({**answer, "result": each})


def _changed(value: Any) -> Any:
    """The same shape with other words and numbers."""
    if isinstance(value, dict):
        return {name: _changed(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_changed(each) for each in value]
    return value + 1 if isinstance(value, int) else json.dumps("other")


def test_a_list_that_is_cut_is_found_out() -> None:
    """A server that lists fewer tools, or on several pages, does less than the others."""
    answer = answered(ours_view(ours.create_app(Setup(tools=3)), jobs.listing(3), Era.HANDSHAKE)())
    jobs.listing(3).judge(answer)
    for judge, result in (
        (jobs.listing(4), answer["result"]),
        (jobs.listing(3), {**answer["result"], "nextCursor": "2"}),
    ):
        with pytest.raises(WrongAnswer):
            judge.judge({"result": result})


def test_a_ratio_is_the_median_of_the_rounds_ratios() -> None:
    """Each round is compared with itself: what slowed a whole round down moves no ratio."""
    sheet = Sheet()
    for name in ("plain", "ours"):
        sheet.open("add", "us", name, "plain")
    for plain, twice in ((10.0, 20.0), (100.0, 200.0), (10.0, 30.0)):
        sheet.note("add", "plain", plain)
        sheet.note("add", "ours", twice)
    *_, ours_line = table.lines(sheet.groups())
    assert ours_line == "| add | ours | 30.0 | 20.0 | 200.0 | us | 2.00 | 2.00-2.80 | plain |"


def test_every_promise_in_process_is_measured(groups: Sequence[Group]) -> None:
    """A bound on figures that no run has would be held for ever."""
    measured = {(group.title, of) for group in groups for of in group.figures}
    titles = {title for title, _ in measured}
    bound = [promise for promise in promises.promises() if promise.figure[0] in titles]
    assert len(bound) == 20
    for promise in bound:
        assert promise.figure in measured
        assert promise.base is None or promise.base in measured


def test_every_promise_over_http_is_measured() -> None:
    """So it is with what servers are asked."""
    measured = {(case.title(plan.kind), case.of) for plan in plans.full() for case in plan.cases}
    places = [place for promise in promises.promises() for place in (promise.figure, promise.base) if place]
    asked = {place for place in places if any(f", {kind}, " in place[0] for kind in plans.KINDS)}
    assert len(asked) == 35
    assert not asked - measured


def test_what_was_held_is_said() -> None:
    """A bound that a run breaks is seen in its table."""
    measured = Group(
        "add", "us", {"same job": [10.0], "ours 2025-11-25": [12.0], "ours 2026-07-28": [10.5]}, "same job"
    )
    lines = list(promises.lines([measured]))
    assert [line.split(" | ")[-1] for line in lines[2:4]] == ["NO |", "yes |"]
    assert lines[-1].endswith(" 2 were measured in this run.")


def test_lines_over_a_real_pipe_are_answered() -> None:
    """The pipe is driven as far as the table, with one call and with several in flight."""
    talkers = [talker for talker in over_stdio.talkers() if talker.of in (over_stdio.LINES, "ours")]
    rounds = over_stdio.Rounds(talkers, Here(), Others(), calls=2)
    rounds.run(1)
    found = rounds.groups()
    assert [len(group.figures) for group in found if group.title.startswith("add, stdio")] == [3] * 5
    assert all(figure > 0 for group in found for figures in group.figures.values() for figure in figures)


@pytest.mark.parametrize("wrong", ["status", "timeout", "read"])
def test_a_load_with_errors_is_no_load(wrong: str) -> None:
    """What was refused or lost is not counted as answered."""
    result = {"requests": 10, "seconds": 1.0, "p50": 1.0, "p99": 2.0, "most": 3.0}
    errors = dict.fromkeys(("connect", "read", "write", "status", "timeout"), 0)
    assert load.read_result("RESULT " + json.dumps({**result, **errors}), "wrk").rate == 10
    with pytest.raises(load.FailedLoad, match=wrong):
        load.read_result("RESULT " + json.dumps({**result, **errors, wrong: 1}), "wrk")


@pytest.mark.system
def test_servers_under_load_are_measured() -> None:
    """wrk loads a real gunicorn, with a session and without, and the table has a figure for each."""
    answers = {jobs.ADD.slug: answered(ours_view(ours.create_app(Setup()), jobs.ADD, Era.HANDSHAKE)())}
    asked = [
        *plans.mcp_cases(plans.OUR, [jobs.ADD], (1,)),
        *plans.mcp_cases(plans.OUR, [jobs.ADD], (1,), plans.SESSION),
    ]
    wanted = [
        plans.wsgi(plans.FLOOR, "floor", [*plans.floor_cases([jobs.ADD], (1,))]),
        plans.wsgi(plans.OUR, "ours", asked, setup=Setup(sessions=True)),
    ]
    rounds = Rounds(wanted, Here(), answers, Others(), seconds=0.3)
    rounds.run(1)
    rates, *_ = rounds.groups()
    assert rates.title == "add, gthread, 1 connection"
    assert len(rates.figures) == 5
    assert all(figure > 0 for figures in rates.figures.values() for figure in figures)


def test_the_command_explains_itself() -> None:
    """What docs/performance.md says to run needs nothing but Python, and names every part and what stays beside it."""
    (block,) = [block for block in blocks_of(ROOT / "docs" / "performance.md") if block.marker == "command: benchmarks"]
    python, *arguments = block.text.split()
    assert python == "python"
    command = [sys.executable, "-S", *arguments, "--help"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(f"\n  {part} " in said for part in ("inprocess", "http", "growth", "stdio", "startup", "memory"))
    assert "benchmarks/grants.py" in said


def test_an_unknown_part_is_named() -> None:
    """A part that is misspelt measures nothing, and its name is said with those that there are."""
    command = [sys.executable, "-m", "benchmarks", "htp"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no part htp; the parts are inprocess, http," in done.stderr
