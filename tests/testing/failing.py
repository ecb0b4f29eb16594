"""What an assertion says that fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest


def failure(assertion: Callable[[], object]) -> str:
    """The sentence that an assertion fails with; that it fails is asserted here."""
    with pytest.raises(AssertionError) as failed:
        assertion()
    return str(failed.value)
