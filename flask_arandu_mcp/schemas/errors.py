"""Say that a declaration cannot be turned into JSON Schema. It stands alone so that every module may raise it."""

from __future__ import annotations


class ConversionError(ValueError):
    """Stop the app at boot, because a schema cannot be shown to a client.

    Its message names the culprit by its path, the rule that it breaks and the way out.
    """

    def __init__(self, message: str, *path: str) -> None:
        super().__init__(f"{'.'.join(path)}: {message}" if path else message)
        self.message = message
        self.path = path

    def inside(self, name: str) -> ConversionError:
        """Give the same fault with `name` put before its path."""
        return ConversionError(self.message, name, *self.path)


UNLUCKY = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
"""What foreign code raises when it is handed a value that it was not made for."""
