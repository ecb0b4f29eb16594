"""Every message names the culprit, the rule and the way out. All texts of the package stand in sentences.txt, where
people have read them: a new one is no part of it, and fails here, until somebody has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from . import sentences
from .sentences import of_list, of_package

KINDS = {"whole", "part", "frame", "refusal", "theirs", "words"}

VERBS = (
    "add|answer|ask|begin|call|choose|chmod|create|declare|decorate|define|drop|get|give|initialize|install|leave|let|"
    "look|make|mend|name|nest|pip|put|raise|remove|rename|return|say|see|send|set|sign|subclass|take|use|write|yield"
)
"""What a way out begins with."""

WAY_OUT = re.compile(
    rf"(^|[:;,.] |\}}|\b(or|and|first|then|do not) )({VERBS})\b"
    "|must |did you mean|expected |the lists? ha(s|ve) those|log says why|try again|can list them",
    re.IGNORECASE,
)
CULPRIT = re.compile(
    r"\{\w|'[^' ]+'|`|@|\w\(|^(The|A|Batches|Nobody|the server|params\.\w+) |([Ss]ign in|pages of this origin)"
)
"""A place for a name, a name, or what a message of the protocol is about; who must sign in is whoever reads it."""
LISTED = [(f"{module}: {text}", kind, text) for module, texts in of_list().items() for text, kind in texts.items()]


def _of(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("text", [pytest.param(text, id=id) for id, kind, text in LISTED if kind in kinds])


def test_the_list_is_what_the_package_says() -> None:
    """No text is missing, and none is left over: `python -m tests.sentences` writes the list anew."""
    listed = {module: list(texts) for module, texts in of_list().items()}
    assert listed == {module: list(texts) for module, texts in of_package().items()}


def test_the_list_is_written_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What people have said of a text is kept when the list is written anew."""
    copy = tmp_path / "sentences.txt"
    copy.write_bytes(sentences.LIST.read_bytes())
    monkeypatch.setattr(sentences, "LIST", copy)
    sentences.main()
    assert copy.read_bytes() == (Path(__file__).parent / "sentences.txt").read_bytes()


def test_every_text_was_read() -> None:
    """Each has one of the kinds that the list explains; a new one has none until somebody has read it."""
    assert [id for id, kind, _ in LISTED if kind not in KINDS] == []


def test_what_an_exception_says_is_an_error() -> None:
    """No error hides among the words."""
    listed = of_list()
    raised = [
        f"{module}: {text}" for module, texts in of_package().items() for text, is_raised in texts.items() if is_raised
    ]
    assert raised
    assert [id for id, kind, _ in LISTED if id in raised and kind == "words"] == []
    assert set(listed) == set(of_package())


@_of("whole")
def test_a_sentence_names_the_culprit(text: str) -> None:
    """Somebody who reads it alone knows what it is about."""
    assert CULPRIT.search(text)


@_of("whole", "part")
def test_a_sentence_says_the_way_out(text: str) -> None:
    """Somebody who reads it knows what to do."""
    assert WAY_OUT.search(text)


@_of("whole", "refusal")
def test_a_sentence_ends(text: str) -> None:
    """It is a sentence, and not the beginning of one."""
    assert re.search(r"[.?]$", text)
