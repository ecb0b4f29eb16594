"""The command `python -m benchmarks`: which parts are run, for how long, and where their table goes."""

from __future__ import annotations

import argparse

from . import in_process_report, table


def main() -> None:
    """Run the parts that were named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("part", choices=["inprocess"])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--seconds", type=float, default=0.02)
    options = parser.parse_args()
    for line in table.lines(in_process_report.report(options.rounds, options.seconds)):
        print(line)


if __name__ == "__main__":
    main()
