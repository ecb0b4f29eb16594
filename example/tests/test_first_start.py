"""The first start makes a working blog without any setup, and once however many workers start together."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, select

from example import create_app
from example.database import db
from example.first_start import secret_key
from example.models import Post, Role, Status, User

from .conftest import close

ROOT = Path(__file__).parents[2]


def test_the_data_is_kept_in_the_instance_folder(app: Flask, tmp_path: Path) -> None:
    """INSTANCE_PATH says where the database and the secret key are."""
    assert Path(app.instance_path) == tmp_path / "instance"
    assert {path.name for path in (tmp_path / "instance").iterdir()} == {"blog.sqlite", "secret_key"}


def test_the_default_is_the_instance_folder_beside_the_package() -> None:
    """Without INSTANCE_PATH the data is where Flask puts it for a package: in `instance` next to it."""
    assert Path(Flask("example").instance_path) == ROOT / "instance"


def test_a_new_blog_has_users_and_posts(context: None) -> None:
    """The seeds are a few dozen posts, drafts among them, by four users of whom one is an editor."""
    names = db.session.execute(select(User.name, User.role).order_by(User.name)).all()
    assert names == [
        ("ana", Role.AUTHOR),
        ("assistant", Role.AUTHOR),
        ("ben", Role.AUTHOR),
        ("eda", Role.EDITOR),
    ]
    count = select(func.count()).select_from(Post)
    assert db.session.scalar(count.filter_by(status=Status.PUBLISHED)) == 30
    assert db.session.scalar(count.filter_by(status=Status.DRAFT)) == 7


def test_passwords_are_kept_hashed(context: None) -> None:
    """No password can be read from the database, and the assistant has none at all."""
    hashes = dict(db.session.execute(select(User.name, User.password_hash)).all())
    assert hashes.pop("assistant") is None
    assert all(value is not None and value.startswith("scrypt:") for value in hashes.values())


def test_a_second_start_finds_everything_done(app: Flask) -> None:
    """Starting again neither seeds twice nor changes the secret key."""
    again = create_app({"INSTANCE_PATH": app.instance_path})
    assert again.secret_key == app.secret_key
    with again.app_context():
        assert db.session.scalar(select(func.count()).select_from(User)) == 4
    close(again)


def test_a_deleted_post_stays_deleted(app: Flask) -> None:
    """The seeds are for a new blog only: a start does not bring back what was deleted."""
    with app.app_context():
        for post in db.session.scalars(select(Post)):
            db.session.delete(post)
        db.session.commit()
    again = create_app({"INSTANCE_PATH": app.instance_path})
    with again.app_context():
        assert db.session.scalar(select(func.count()).select_from(Post)) == 0
    close(again)


def test_the_secret_key_is_private(tmp_path: Path) -> None:
    """The key is long, and nobody but the app's own account can read its file."""
    key = secret_key(tmp_path / "new")
    assert len(key) == 64
    assert stat.S_IMODE((tmp_path / "new" / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["secret_key"]


def test_the_first_secret_key_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that saw no key, but is second to write one, takes the first one's and leaves nothing behind."""
    key = secret_key(tmp_path)
    monkeypatch.setattr(Path, "exists", lambda self: False)
    assert secret_key(tmp_path) == key
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_configured_secret_key_is_used(tmp_path: Path) -> None:
    """Who sets SECRET_KEY gets that one, and no file is made."""
    app = create_app({"INSTANCE_PATH": tmp_path, "SECRET_KEY": "of my own"})
    assert app.secret_key == "of my own"
    assert not (tmp_path / "secret_key").exists()
    close(app)


def test_two_workers_may_start_at_once(tmp_path: Path) -> None:
    """Workers that start together agree on one secret key and one set of seeds, and none fails."""
    code = "import sys, example; print(example.create_app({'INSTANCE_PATH': sys.argv[1]}).secret_key)"
    command = [sys.executable, "-c", code, str(tmp_path)]
    workers = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    keys = {worker.communicate(timeout=60)[0] for worker in workers}
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    assert len(keys) == 1
    app = create_app({"INSTANCE_PATH": tmp_path})
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(User)) == 4
        assert db.session.scalar(select(func.count()).select_from(Post)) == 37
    close(app)
