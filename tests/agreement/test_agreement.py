"""Hold the agreement: a sample of what `python -m tests.agreement` measures, and what must be true of its lists."""

from __future__ import annotations

import pytest
from marshmallow import Schema

from flask_arandu_mcp.schemas.convert import input_schema, output_schema

from .catalogue import Entry, catalogue
from .judge import complaints, judge
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


def test_every_dump_is_valid_by_its_output_schema(sample: Measurement) -> None:
    """What the catalogue dumps is valid where formats are asserted, as the TypeScript SDK does.

    Its own validator is asked by `python -m tests.agreement --dumps FILE` and `node tests/agreement/sdk.mjs FILE`.
    """
    judges = {name: judge(schema, True) for name, schema, _ in sample.dumps}
    assert len(judges) > 60
    assert [(name, value) for name, _, value in sample.dumps if not judges[name].is_valid(value)] == []
