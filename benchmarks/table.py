"""The one table that all parts print. A ratio is the median of the ratios of each round, and its spread goes from the
tenth to the ninetieth percentile of the rounds."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

Figures = Mapping[str, Sequence[float]]
"""What was measured of each variant, one figure a round; rounds without a figure are left out on both sides."""


class Group(NamedTuple):
    """Lines of the table that belong together.

    :ivar title: what was done.
    :ivar unit: of the figures, such as `us`.
    :ivar figures: by the variant's name.
    :ivar base: the variant that the others are held against, in the same rounds; None where there is none.
    """

    title: str
    unit: str
    figures: Figures
    base: str | None = None


class Sheet:
    """Figures as they come in, round by round. They are shown in the order in which their places were opened, since
    rounds are shuffled."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, list[float]]] = {}
        self._heads: dict[str, tuple[str, str | None]] = {}

    def open(self, title: str, unit: str, of: str, base: str | None) -> None:
        """Make a place for a variant's figures in a group."""
        self._heads.setdefault(title, (unit, base))
        self._found.setdefault(title, {}).setdefault(of, [])

    def note(self, title: str, of: str, figure: float) -> None:
        """Take a round's figure in, whose place is open."""
        self._found[title][of].append(figure)

    def groups(self) -> list[Group]:
        """All groups."""
        return [Group(title, unit, self._found[title], base) for title, (unit, base) in self._heads.items()]


def lines(groups: Sequence[Group]) -> Iterator[str]:
    """The table in Markdown."""
    yield "| what | of | median | least | most | unit | ratio | spread | to |"
    yield "| --- | --- | ---: | ---: | ---: | --- | ---: | --- | --- |"
    for group in groups:
        for name, figures in group.figures.items():
            if figures:
                yield _line(group, name, figures)


def ratios(figures: Sequence[float], base: Sequence[float]) -> list[float]:
    """The ratio of each round."""
    return [figure / reference for figure, reference in zip(figures, base, strict=False) if reference]


def spread(values: Sequence[float]) -> tuple[float, float]:
    """The tenth and the ninetieth percentile."""
    if len(values) < 2:
        return values[0], values[0]
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[-1]


def number(value: float) -> str:
    """A figure, with as many digits as can be told apart."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _line(group: Group, name: str, figures: Sequence[float]) -> str:
    cells = [group.title, name, *(number(of(figures)) for of in (statistics.median, min, max)), group.unit]
    if group.base is not None and name != group.base and group.figures.get(group.base):
        found = ratios(figures, group.figures[group.base])
        low, high = spread(found)
        cells += [f"{statistics.median(found):.2f}", f"{low:.2f}-{high:.2f}", group.base]
    else:
        cells += ["", "", ""]
    return f"| {' | '.join(cells)} |"
