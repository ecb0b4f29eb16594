"""What `require_grant` costs a statement. Run it with `python benchmarks/grants.py`: the same statement is sent through
two engines in turn, of which one is watched, and the least of each is the one that the machine disturbed least."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time

from sqlalchemy import Engine, create_engine, event, text

from flask_arandu_mcp import Request, Server, authorize, public, tool
from flask_arandu_mcp.ext.sqlalchemy import require_grant

ROUNDS, STATEMENTS = 200, 300
STATEMENT = text("SELECT 1")


def microseconds(engine: Engine) -> float:
    """What one statement takes on an engine, on a connection that is open already."""
    with engine.connect() as connection:
        start = process_time()
        for _ in range(STATEMENTS):
            connection.execute(STATEMENT)
        return (process_time() - start) / STATEMENTS * 1e6


def measure(watched: Engine, rounds: int = ROUNDS) -> tuple[float, float]:
    """The least that a statement took on a plain engine and on a watched one, in turn."""
    plain = create_engine("sqlite://")
    taken = [(microseconds(plain), microseconds(watched)) for _ in range(rounds)]
    plain.dispose()
    return min(first for first, _ in taken), min(second for _, second in taken)


def in_a_call(measured: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """What a measurement gives in a handler that was granted."""
    found: list[tuple[float, float]] = []

    @tool(access=public)
    def measure_it(request: Request) -> None:
        """Measures."""
        authorize(public, request.subject, "measure")
        found.append(measured())

    Server(name="benchmark", tools=[measure_it]).call(object(), "measure_it")
    return found[0]


def report(rounds: int = ROUNDS, write: Callable[[str], object] = print) -> None:
    """Write what a statement takes, and how much of it is the watch."""
    watched, listened = create_engine("sqlite://"), create_engine("sqlite://")
    require_grant(watched)
    event.listen(listened, "before_cursor_execute", lambda *given: None)
    cases: dict[str, Callable[[], tuple[float, float]]] = {
        "outside of a call": lambda: measure(watched, rounds),
        "in a call that was granted": lambda: in_a_call(lambda: measure(watched, rounds)),
        "for comparison: a listener on connections that does nothing": lambda: measure(listened, rounds),
    }
    for name, case in cases.items():
        plain, taken = case()
        write(f"{name}: {plain:.2f} us plain, {taken:.2f} us watched: {taken - plain:+.2f} us a statement")
    watched.dispose()
    listened.dispose()


if __name__ == "__main__":
    report(int(sys.argv[1]) if sys.argv[1:] else ROUNDS)
