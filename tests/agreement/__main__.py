"""Measure the whole catalogue, print the table, and exit 1 where ours breaks what must hold.

    python -m tests.agreement [values for each schema] [--dumps FILE]

With `--dumps`, what the catalogue dumped is written as JSON lines of a name, a schema and a value.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .catalogue import catalogue
from .measure import measure, table


def main(arguments: list[str]) -> int:
    """Run the measurement and give the exit status."""
    counts = [int(each) for each in arguments if each.isdigit()]
    whole = measure(catalogue(), counts[0] if counts else 520)
    sys.stdout.write(table(whole))
    if "--dumps" in arguments:
        lines = (json.dumps(each, default=str) for each in whole.dumps)
        Path(arguments[arguments.index("--dumps") + 1]).write_text("\n".join(lines), "utf-8")
    broken = whole.broken()
    for each in broken[:60]:
        sys.stderr.write(f"{each[:400]}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
