"""Load from wrk, pinned to its own core. It answers for every request: an answer that is no success, a connection that
broke and a time-out end the run, since the figures would count them as work."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .machine import cores, on
from .messages import Message

_SCRIPT = """
local requests, count, next_one = {}, 0, 0

local function read(name)
    local file = assert(io.open(name, "rb"))
    local text = file:read("*a")
    file:close()
    return text
end

function init(args)
    local headers, body
    for index = 1, #FILES, 2 do
        headers = {}
        for name, value in read(FILES[index]):gmatch("([^\\n:]+): ([^\\n]*)") do headers[name] = value end
        count = count + 1
        requests[count] = wrk.format("POST", nil, headers, read(FILES[index + 1]))
    end
end

function request()
    next_one = next_one % count + 1
    return requests[next_one]
end

function done(summary, latency, requests)
    local errors = summary.errors
    io.write("RESULT ", string.format(
        '{"requests": %d, "seconds": %f, "p50": %f, "p99": %f, "most": %f, '
        .. '"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}\\n',
        summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99), latency.max,
        errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
"""
_ERRORS = ("connect", "read", "write", "status", "timeout")


class FailedLoad(Exception):
    """Not every request was answered with a success."""


class Load(NamedTuple):
    """What a server did under load.

    :ivar rate: requests a second.
    :ivar p50: microseconds, as `p99`.
    :ivar requests: how many it answered.
    """

    rate: float
    p50: float
    p99: float
    requests: int


def wrk() -> str:
    """The program.

    :raises FailedLoad: where it is not installed.
    """
    found = shutil.which("wrk")
    if found is None:
        raise FailedLoad("wrk is not installed, and nothing else loads servers here: apt-get install wrk")
    return found


def load(url: str, messages: Sequence[Message], connections: int, seconds: float) -> Load:
    """Send messages in turn over some connections.

    :raises FailedLoad: where a request was not answered with a success.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = _write(Path(folder), messages)
        # wrk counts in whole seconds; a shorter run is ended by the signal that it takes for an end.
        command = [wrk(), "-t1", f"-c{connections}", "-d3600s", "--timeout", "30s", "-s", str(script), url]
        with on(cores()[1]):
            running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            running.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            running.send_signal(signal.SIGINT)
        written, _ = running.communicate(timeout=60)
    return read_result(written, " ".join(command))


def _write(folder: Path, messages: Sequence[Message]) -> Path:
    files = []
    for number, message in enumerate(messages):
        headers, body = folder / f"{number}.headers", folder / f"{number}.body"
        headers.write_text("".join(f"{name}: {value}\n" for name, value in message.headers.items()))
        body.write_bytes(message.body)
        files += [str(headers), str(body)]
    script = folder / "load.lua"
    script.write_text(f"FILES = {{{', '.join(json.dumps(file) for file in files)}}}\n{_SCRIPT}")
    return script


def read_result(written: str, command: str) -> Load:
    results = [line.removeprefix("RESULT ") for line in written.splitlines() if line.startswith("RESULT ")]
    if not results:
        raise FailedLoad(f"{command} said: {written[-500:]}")
    result: Mapping[str, float] = json.loads(results[0])
    errors = {name: result[name] for name in _ERRORS if result[name]}
    if errors:
        raise FailedLoad(f"{errors} in {result['requests']:.0f} requests of {command}")
    return Load(result["requests"] / result["seconds"], result["p50"], result["p99"], int(result["requests"]))
