"""What the first start of the blog makes: the secret key, the tables, the users and the posts. Several
workers may start at the same moment, so each step is one that only one of them can win and that the others
then find done."""

from __future__ import annotations

import os
import secrets
import tempfile
import tomllib
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session
from werkzeug.security import generate_password_hash

from .database import Base, db
from .models import Post, Role, Status, User
from .services import slugify

DEMO_PASSWORDS = {"ana": "ana-grows-beans", "ben": "ben-keeps-bees", "eda": "eda-reads-all"}
POSTS_FILE = Path(__file__).with_name("posts.toml")


def secret_key(folder: Path) -> str:
    """The app's secret key, generated once into a file that only this account can read."""
    path = folder / "secret_key"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write_once(path, secrets.token_hex(32))
    return path.read_text(encoding="ascii")


def _write_once(path: Path, text: str) -> None:
    # A link to a finished file appears all at once and never replaces another worker's, unlike a plain write.
    descriptor, name = tempfile.mkstemp(dir=path.parent)  # mkstemp makes it with mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        os.link(name, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(name)


def prepare_database() -> None:
    """Make and fill the tables unless that is done already; needs an app context."""
    with db.engine.connect() as connection:
        # SQLite's write lock, taken before the look: a second worker waits here and then finds the users.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        Base.metadata.create_all(connection)
        if connection.scalar(select(User.id).limit(1)) is None:
            _fill(connection)
        connection.commit()
    # A server that forks after this must not share an open SQLite connection with its workers.
    db.engine.dispose()


def _fill(connection: Connection) -> None:
    users = {user.name: user for user in _demo_users()}
    with Session(connection) as session:
        session.add_all(users.values())
        with POSTS_FILE.open("rb") as file:
            for entry in tomllib.load(file)["posts"]:
                post = Post(
                    slug=slugify(entry["title"]),
                    title=entry["title"],
                    body=entry["body"].strip(),
                    status=Status.PUBLISHED if "published_on" in entry else Status.DRAFT,
                    published_on=entry.get("published_on"),
                    author=users[entry["author"]],
                )
                post.tags = entry["tags"]
                session.add(post)
        session.commit()


def _demo_users() -> list[User]:
    hashes = {name: generate_password_hash(password) for name, password in DEMO_PASSWORDS.items()}
    return [
        User(name="ana", full_name="Ana Duarte", password_hash=hashes["ana"]),
        User(name="ben", full_name="Ben Okafor", password_hash=hashes["ben"]),
        User(name="eda", full_name="Eda Lindqvist", password_hash=hashes["eda"], role=Role.EDITOR),
        # Without a password: it is the user that an assistant on this machine acts as, not one who signs in.
        User(name="assistant", full_name="The assistant"),
    ]
