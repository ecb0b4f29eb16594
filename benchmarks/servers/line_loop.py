"""The floor of a pipe: a loop that reads a line of JSON and writes one, and does nothing with it."""

from __future__ import annotations

import json
import sys

from .. import work

DATA = work.add(2, 3)
RESULT = {"content": [{"type": "text", "text": json.dumps(DATA)}], "structuredContent": DATA, "isError": False}


def main() -> None:
    """Answer each line with the same result."""
    for line in sys.stdin.buffer:
        id = json.loads(line).get("id")
        if id is not None:
            sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": id, "result": RESULT}).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
