"""The official suite: where it is installed, how it is run, and what it says of each scenario. It is read strictly: a
warning is a failure, and a scenario in which nothing was checked has not passed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

_HERE = Path(__file__).parent
_PACKAGE = "@modelcontextprotocol/conformance"
_RESULT = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_TIMEOUT = 600.0

SCENARIOS = {
    "0.2.0-alpha.12": {"2026-07-28": 40, "2025-11-25": 33, "2025-06-18": 27},
    "0.1.16": {"2025-11-25": 32, "2025-06-18": 26},
}
"""The pinned versions of the suite, and how many scenarios each has for a revision: none is to go missing unseen."""


class Findings(NamedTuple):
    """What a run of the suite has found.

    :ivar failed: scenarios that did not pass, with what each check says of it.
    :ivar passed: scenarios that did.
    :ivar checks: how many checks passed.
    :ivar accepted: the suite, too, found that those and only those failed that were expected to.
    :ivar output: what the suite printed.
    """

    failed: dict[str, list[str]]
    passed: list[str]
    checks: int
    accepted: bool
    output: str

    @property
    def total(self) -> int:
        """How many scenarios were run."""
        return len(self.failed) + len(self.passed)


def installed(version: str) -> Path:
    """The folder of a version of the suite, installed outside the tree when it is not there yet."""
    cache = os.environ.get("CONFORMANCE_CACHE") or Path(tempfile.gettempdir()) / "flask-arandu-mcp-conformance"
    prefix = Path(cache) / version
    package = prefix / "node_modules" / _PACKAGE
    if not (package / "dist" / "index.js").exists():
        prefix.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(prefix)]
        subprocess.run([*command, f"{_PACKAGE}@{version}"], check=True, timeout=_TIMEOUT)
    return package


def run(version: str, revision: str, url: str, expected: set[str], results: Path) -> Findings:
    """Run all the scenarios that a version of the suite has for a revision.

    :param expected: the scenarios that are to fail.
    :param results: a folder, not there yet, for what it finds.
    """
    results.mkdir()
    baseline = results / "expected.yml"
    # The suite reads it too, as the second opinion on what this module reads out of the results.
    baseline.write_text("".join(["server:\n", *(f"  - {scenario}\n" for scenario in sorted(expected))]))
    command = ["node", "--import", str(_HERE / "node20.mjs"), str(installed(version) / "dist" / "index.js"), "server"]
    command += ["--url", url, "--suite", "all", "--spec-version", revision, "--output-dir", str(results)]
    command += ["--expected-failures", str(baseline)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT)
    failed: dict[str, list[str]] = {}
    passed, checks = [], 0
    for path in sorted(results.glob("*/checks.json")):
        named = _RESULT.fullmatch(path.parent.name)
        assert named is not None, path
        found = json.loads(path.read_text())
        count = Counter(check["status"] for check in found)
        checks += count["SUCCESS"]
        if count["FAILURE"] or count["WARNING"] or not count["SUCCESS"]:
            failed[named[1]] = [_said(check) for check in found if check["status"] in ("FAILURE", "WARNING")]
        else:
            passed.append(named[1])
    return Findings(failed, passed, checks, done.returncode == 0, done.stdout + done.stderr)


def expected(revision: str) -> set[str]:
    """The scenarios that `expected.yml` names for a revision."""
    named: dict[str, set[str]] = {}
    section = ""
    for line in (_HERE / "expected.yml").read_text().splitlines():
        if line.startswith("  - "):
            named[section].add(line.removeprefix("  - "))
        elif line.endswith(":") and not line.lstrip().startswith("#"):
            section = line.removesuffix(":")
            named[section] = set()
    return named["every revision"] | named.get(revision, set())


def _said(check: dict[str, Any]) -> str:
    return f"{check['status']} {check['id']}: {check.get('errorMessage') or check.get('description')}"
