"""The house of modules: imports point down, and only the rooms marked F know Flask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "flask_arandu_mcp"

# Lower rows know nothing of higher ones; rooms of one row know nothing of each other.
LAYERS = [
    ["typing"],
    ["errors", "limits", "headers", "content", "signals", "grants"],
    ["revisions", "messages"],
    ["jsonrpc", "policies", "uri_templates", "sealing", "schemas", "asking", "mirroring"],
    ["host", "writing"],
    ["request", "response", "arguments", "results", "caller"],
    ["answers", "connection", "declarations.base", "declarations.handlers", "elicitation"],
    ["declarations.tools", "declarations.resources", "declarations.prompts", "eras.handshake", "eras.stateless"],
    ["catalogue", "attributes", "signatures", "playing", "rounds", "operations.operation"],
    ["faults"],
    ["audit", "troubles"],
    ["steps"],
    ["guarding"],
    ["passages", "completing"],
    ["door"],
    ["server"],
    ["methods.params"],
    [
        "methods.tools",
        "methods.resources",
        "methods.prompts",
        "methods.completion",
        "methods.lifecycle",
        "methods.lists",
    ],
    ["methods.table"],
    ["dispatch", "transports.origins"],
    [
        "settings",
        "identity",
        "oauth",
        "transports.cors",
        "transports.body",
        "transports.memo",
        "transports.descriptors",
    ],
    ["transports.crew", "transports.sse", "transports.mailbox"],
    ["transports.responses"],
    ["ext.limiter"],  # counts for `hosting`, and imports its library only where limits are declared
    ["hosting", "transports.ending"],
    ["state"],
    ["transports.gate", "transports.scopes"],
    ["transports.contexts"],
    ["transports.admission", "transports.local", "transports.streaming"],
    ["transports.http", "transports.stdio"],
    ["listing"],
    ["operations.routing", "operations.placement", "operations.answers"],
    ["operations.found", "operations.inner"],
    ["operations.inputs"],
    ["operations.endpoint"],
    ["operations.declare"],
    ["operations.survey"],
    ["advice.worded"],
    ["advice.shapes", "advice.tokens", "advice.words"],
    ["advice"],
    ["commands.served", "commands.paint", "commands.typed", "commands.visible", "commands.toml", "commands.templates"],
    ["commands.acting", "commands.talking", "commands.clients", "commands.place", "commands.fields", "commands.result"],
    ["commands.progress", "commands.questions"],
    [
        "commands.call",
        "commands.check",
        "commands.config",
        "commands.list",
        "commands.new",
        "commands.routes",
        "commands.start",
    ],
    ["extension", "cli", "ext.sqlalchemy", "ext.principal", "ext.security"],
    ["testing.questions", "testing.who"],
    ["testing.exchange"],
    ["testing.refusals"],
    ["testing.about", "testing.browser"],
    ["testing.results", "testing.speaking"],
    ["testing.kinds"],
    ["testing.client"],
    ["testing.outcomes"],
    ["testing.parity"],
    ["testing"],
    ["pytest_plugin"],
    [""],
]
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}
FLASK_ROOMS = {
    "identity",
    "ext.limiter",
    "hosting",
    "operations.inner",
    "operations.endpoint",
    "operations.declare",
    "operations.survey",
    "oauth",
    "state",
    "transports.admission",
    "transports.contexts",
    "transports.gate",
    "transports.scopes",
    "transports.http",
    "transports.responses",
    "transports.local",
    "extension",
    "cli",
    "commands.acting",
    "commands.call",
    "commands.check",
    "commands.config",
    "commands.fields",
    "commands.list",
    "commands.new",
    "commands.paint",
    "commands.place",
    "commands.progress",
    "commands.questions",
    "commands.routes",
    "commands.served",
    "commands.start",
    "ext.principal",
    "testing.browser",
    "testing.client",
    "testing.outcomes",
    "testing.parity",
    "testing.who",
}
FRAMEWORKS = {"flask", "flask_login", "click"}


def _modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _imports(room: str, path: Path) -> Iterator[tuple[str, int]]:
    """The absolute names that a module imports anywhere, functions included, and where."""
    parts = room.split(".") if room else []
    package = parts if path.name == "__init__.py" else parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            if not node.level:
                yield node.module or "", node.lineno
                continue
            base = ["flask_arandu_mcp", *package[: len(package) - node.level + 1]]
            target = ".".join([*base, *(node.module or "").split(".")]).rstrip(".")
            for alias in node.names:
                inner = f"{target}.{alias.name}"
                yield (inner if _exists(inner) else target), node.lineno


def _exists(dotted: str) -> bool:
    path = PACKAGE.joinpath(*dotted.split(".")[1:])
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def _room(dotted: str) -> str:
    """The row's name for a module of the package: `schemas` is one room with walls of its own inside."""
    name = dotted.removeprefix("flask_arandu_mcp").lstrip(".")
    return "schemas" if name.split(".")[0] == "schemas" else name


def test_every_module_has_a_row() -> None:
    """A module that no row names could import anything."""
    named = {_room(name) for name, _ in _modules()} - {
        "commands",
        "declarations",
        "eras",
        "ext",
        "methods",
        "operations",
        "transports",
    }
    assert named == set(RANK)


def test_imports_point_down() -> None:
    """A module imports only from lower rows: not from higher ones, and not from its neighbours."""
    wrong = [
        f"{name}:{line} imports {target}"
        for name, path in _modules()
        if name
        for target, line in _imports(name, path)
        if target.startswith("flask_arandu_mcp.")
        and _room(target) != _room(f"flask_arandu_mcp.{name}")
        and RANK[_room(target)] >= RANK[_room(f"flask_arandu_mcp.{name}")]
    ]
    assert wrong == []


def test_only_the_rooms_marked_f_know_flask() -> None:
    """The protocol, the door and the schemas work without Flask, Flask-Login and click."""
    knowing = {
        name for name, path in _modules() for target, _ in _imports(name, path) if target.split(".")[0] in FRAMEWORKS
    }
    assert knowing == FLASK_ROOMS


def test_imports_inside_the_package_are_relative() -> None:
    """The package never names itself, so that it can be moved."""
    for name, path in _modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert not (node.module or "").startswith("flask_arandu_mcp"), name
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("flask_arandu_mcp") for alias in node.names), name


def test_one_broad_except() -> None:
    """Whatever an app's code raises is caught in one helper, so that nothing is swallowed elsewhere."""
    broad = [
        name
        for name, path in _modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") in {"Exception", "BaseException"})
    ]
    assert broad == ["errors"]
