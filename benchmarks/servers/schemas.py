"""The marshmallow schemas of the jobs, which the plain views and our tools share. One library loads
and dumps both, so that what differs is what stands around it."""

from __future__ import annotations

from marshmallow import Schema, fields
from marshmallow.validate import Length, OneOf, Range

from .. import work


class AddSchema(Schema):
    """The arguments of `add`."""

    a = fields.Integer(required=True)
    b = fields.Integer(required=True)


class LimitSchema(Schema):
    """The arguments of a list."""

    limit = fields.Integer(load_default=work.ROWS, validate=Range(1, 100))


class PostSchema(Schema):
    """A row of a list."""

    id = fields.Integer()
    slug = fields.String()
    title = fields.String()
    author = fields.String()
    status = fields.String()


class RowsSchema(Schema):
    """Rows as arguments."""

    rows = fields.List(fields.Nested(PostSchema), required=True)


class BookSchema(Schema):
    """Five arguments, each of which can be wrong."""

    room = fields.String(required=True, validate=Length(1, 40))
    floor = fields.Integer(required=True, validate=Range(0, 9))
    seats = fields.Integer(required=True, validate=Range(min=1))
    kind = fields.String(required=True, validate=OneOf(work.KINDS))
    quiet = fields.Boolean(required=True)
