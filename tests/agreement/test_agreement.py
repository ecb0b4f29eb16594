"""Hold the agreement: a sample of what `python -m tests.agreement` measures, and what must be true of its lists."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from marshmallow import Schema

from flask_arandu_mcp.schemas.convert import input_schema, output_schema

from .catalogue import Entry, catalogue
from .judge import complaints
from .lists import LOOSE
from .measure import Measurement, measure

pytestmark = pytest.mark.filterwarnings("ignore")  # the other converters warn about what marshmallow deprecates


@pytest.fixture(scope="module")
def sample() -> Measurement:
    return measure(catalogue(), 60)


def test_catalogue_is_broad_enough() -> None:
    """At least 60 schemas are measured, each under a name of its own."""
    names = [entry.name for entry in catalogue()]
    assert len(names) >= 60
    assert len(set(names)) == len(names)


def test_ours_disagrees_only_where_a_list_says_so(sample: Measurement) -> None:
    """What is valid by schema loads and what loads is valid, outside the two lists."""
    assert sample.broken() == []
    assert sample.instances >= 6000


def test_ours_is_fit_for_every_client(sample: Measurement) -> None:
    """No schema of ours raises, fails Draft 2020-12 or is refused by a picky client."""
    ours = sample.tallies["ours"]
    assert (ours.unfit, ours.raised) == ([], [])


def test_the_measure_finds_what_disagrees(sample: Measurement) -> None:
    """The same measure finds disagreement in converters that are known for it, so it is not blind."""
    for name in ("apispec", "marshmallow-jsonschema"):
        assert sample.tallies[name].astray["a"]
        assert sample.tallies[name].astray["b"]
        assert sample.tallies[name].unfit


def _description(entry: Entry, path: str) -> object:
    schema = input_schema(entry.schema)
    shown = schema["properties"][path] if path else schema  # type: ignore[index]  # an object of schemas
    assert isinstance(shown, dict)
    inner = shown.get("items")
    return shown.get("description") or (inner.get("description") if isinstance(inner, dict) else None)


@pytest.mark.parametrize("entry", [each for each in catalogue() if each.loose], ids=lambda entry: entry.name)
def test_what_cannot_be_checked_is_said(entry: Entry) -> None:
    """Wherever the loader may be stricter than the schema, the description says so in words."""
    for path, reason in entry.loose.items():
        assert reason in LOOSE
        assert _description(entry, path)


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_output_schemas_are_fit_for_every_client(entry: Entry) -> None:
    """What is dumped is described in Draft 2020-12 too, with an object at the root."""
    assert complaints(output_schema(entry.schema)) == []


def test_conversion_does_not_depend_on_what_was_converted_before() -> None:
    """A schema is converted alike the second time, and for another instance of its class."""
    for one, other in zip(catalogue(), catalogue(), strict=True):
        assert input_schema(one.schema) == input_schema(one.schema) == input_schema(other.schema)


def test_complaints_see_what_clients_refuse() -> None:
    """The lint refuses a root without properties, an array without items, a null keyword and a foreign reference."""
    assert complaints({"type": "object"})
    found: list[dict[str, object]] = [
        {"type": "array"},
        {"format": None},
        {"$ref": "https://example.org/x"},
        {"enum": []},
    ]
    for broken in found:
        assert complaints({"type": "object", "properties": {"v": broken}})
    assert complaints(input_schema(Schema.from_dict({})())) == []


def test_the_typescript_sdk_accepts_every_dump(sample: Measurement, tmp_path: Path) -> None:
    """The validator of MCP's TypeScript SDK accepts all that the catalogue dumps.

    NODE_MODULES says where `npm install @modelcontextprotocol/sdk` has put it.
    """
    node, modules = shutil.which("node"), os.environ.get("NODE_MODULES")
    if node is None or modules is None:
        pytest.skip("needs node, and NODE_MODULES with @modelcontextprotocol/sdk in it")
    dumps = tmp_path / "dumps.jsonl"
    dumps.write_text("\n".join(json.dumps(each) for each in sample.dumps), "utf-8")
    script = Path(__file__).with_name("sdk.mjs")
    done = subprocess.run([node, script, dumps], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
