"""One piece of advice."""

from __future__ import annotations

from typing import NamedTuple


class Advice(NamedTuple):
    """What could be better.

    :ivar culprit: what it is about, such as `tool 'add'`.
    :ivar rule: the rule's short name, by which the advice can be ignored.
    :ivar words: the rule and the way out, as the rest of a sentence.
    """

    culprit: str
    rule: str
    words: str
