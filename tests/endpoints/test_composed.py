"""Endpoint tools beside the rest: Grants, rate limits, sessions of the ORM, and the audit trail."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, g, jsonify, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_login import LoginManager, UserMixin, current_user
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Engine, String, inspect, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, object_session
from sqlalchemy.pool import StaticPool

from flask_arandu_mcp import ArandoMCP, Request, Server, endpoint_tool, public, signed_in, tool
from flask_arandu_mcp.ext.sqlalchemy import require_grant
from flask_arandu_mcp.signals import tool_called

from ..wire import Wire


class Base(DeclarativeBase):
    """What all tables share."""


class User(UserMixin, Base):
    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(40))


class Shop:
    """An app with a database, whose engine wants a Grant for each statement."""

    def __init__(self) -> None:
        self.app = app = Flask(__name__)
        app.config.from_mapping(
            SECRET_KEY="a key for the tests",
            TESTING=True,
            SQLALCHEMY_DATABASE_URI="sqlite://",
            SQLALCHEMY_ENGINE_OPTIONS={"poolclass": StaticPool, "connect_args": {"check_same_thread": False}},
            RATELIMIT_STORAGE_URI="memory://",
        )
        self.db = SQLAlchemy(app, model_class=Base)
        login = LoginManager(app)
        login.user_loader(lambda id: self.db.session.get(User, int(id)))
        login.request_loader(lambda request: self.by_token(request.headers.get("Authorization", "")))
        self.limiter = Limiter(get_remote_address, app=app)
        self.views()
        with app.app_context():
            self.db.create_all()
            self.db.session.add(User(name="ana"))
            self.db.session.commit()
            self.engine: Engine = self.db.engine
        require_grant(self.engine)
        self.server = Server(
            "shop",
            access=public,
            tools=[
                endpoint_tool("rename", access=signed_in),
                endpoint_tool("whoami"),
                endpoint_tool("thrice"),
                self.bare(),
            ],
        )
        ArandoMCP(app, self.server).check(app)
        self.wire = Wire(app)

    def by_token(self, header: str) -> User | None:
        name = header.removeprefix("Bearer ")
        return self.db.session.scalar(select(User).filter_by(name=name)) if name else None

    def views(self) -> None:
        app, session = self.app, self.db.session

        @app.post("/rename/<name>")
        def rename(name: str) -> Any:
            """Renames the caller."""
            assert object_session(current_user._get_current_object()) is session()
            current_user.name = name
            session.commit()
            return jsonify(name=current_user.name)

        @app.get("/whoami")
        def whoami() -> Any:
            """Says who asks."""
            g.seen = current_user.name
            return jsonify(name=g.seen)

        @app.get("/thrice")
        @self.limiter.limit("3/hour")
        def thrice() -> Any:
            """Answers three times."""
            return jsonify(address=request.remote_addr)

    def bare(self) -> Any:
        @tool
        def bare(request: Request) -> str:
            """Reads without asking."""
            return str(self.db.session.scalar(select(User.name)))

        return bare

    def use(self, name: str, /, **arguments: Any) -> Any:
        message = {"name": name, "arguments": arguments}
        return self.wire.call("tools/call", message, {"Authorization": "Bearer ana"})


@pytest.fixture
def shop() -> Iterator[Shop]:
    shop = Shop()
    yield shop
    shop.engine.dispose()


def test_an_endpoint_is_a_recorded_system_grant(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """What an endpoint asks of the data is on its own request's account, which is recorded; other tools must ask."""
    with caplog.at_level(logging.INFO, logger="flask_arandu_mcp.grants"):
        assert shop.use("rename", name="anna")["structuredContent"] == {"name": "anna"}
    assert "system grant: call the endpoint 'rename' (its own request decides what the caller may do)" in caplog.text
    with shop.app.app_context():
        assert shop.db.session.scalar(select(User.name)) == "anna"
        shop.db.session.execute(select(User)).scalar_one().name = "ana"
        shop.db.session.commit()
    refused = shop.use("bare")
    assert refused["isError"] is True
    assert refused["content"][0]["text"].startswith("403 Forbidden: nothing had allowed this")


def test_the_user_is_a_copy_of_its_own(shop: Shop) -> None:
    """The endpoint's user belongs to the endpoint's session, and the caller's to the caller's."""
    with shop.app.test_request_context():
        mine = shop.db.session.scalars(select(User)).one()
        assert shop.server.call(mine, "whoami").data == {"name": "ana"}
        assert shop.server.call(mine, "rename", {"name": "anna"}).data == {"name": "anna"}
        assert inspect(mine).session is shop.db.session()
        assert mine in shop.db.session


def test_the_limit_of_the_route_is_the_limit_of_the_tool(shop: Shop) -> None:
    """A route's own limit counts calls of a browser and of the tool together."""
    assert shop.app.test_client().get("/thrice").status_code == 200
    assert [shop.use("thrice").get("isError", False) for _ in range(3)] == [False, False, True]
    refused = shop.use("thrice")["content"][0]["text"]
    assert refused == "429 Too Many Requests: 3 per 1 hour"
    assert shop.app.test_client().get("/thrice").status_code == 429


def test_the_audit_trail_names_the_arguments(shop: Shop) -> None:
    """A call of an endpoint is in the audit trail as every other, by its name and the names of its arguments."""
    heard: list[dict[str, Any]] = []

    def hear(sender: Any, **said: Any) -> None:
        heard.append({**said, "sender": sender})

    with tool_called.connected_to(hear, sender=shop.server):
        shop.use("rename", name="ana")
    (record,) = heard
    assert record["sender"] is shop.server
    assert (record["name"], record["outcome"]) == ("rename", "ok")
