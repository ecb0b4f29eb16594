"""What an app may listen to: one signal a kind of call, sent when the call is over. Together they are the audit trail;
they carry names and never values."""

from __future__ import annotations

from blinker import Namespace

_namespace = Namespace()

tool_called = _namespace.signal("tool-called")
"""A tool was called. Sender: the `Server`. With `subject_id`, `name` (None for a tool that does not exist),
`arguments` (the declared names that were sent, never their values), `duration` in seconds, and `outcome`: `ok`,
`error`, `refused`, `invalid`, `asked`, `failed` or `cancelled`."""

tool_refused = _namespace.signal("tool-refused")
"""A call of a tool was refused. Sent after `tool_called`, with the same facts."""

resource_read = _namespace.signal("resource-read")
"""A resource was read; `name` is its template as it was declared, not the URI. With the facts of `tool_called`."""

prompt_rendered = _namespace.signal("prompt-rendered")
"""A prompt was rendered. With the facts of `tool_called`."""
