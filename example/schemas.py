"""What goes in and out of the blog as data. The JSON API and the assistant's tools share these schemas, so
both say the same about a post and refuse the same input."""

from __future__ import annotations

from marshmallow import Schema, fields
from marshmallow.validate import Length, Range

from .models import Status

TITLE_RULE = Length(min=1, max=120)
BODY_RULE = Length(min=1, max=20_000)
TAG = fields.String(validate=Length(min=1, max=30))
TAGS_RULE = Length(max=8)


class AuthorSchema(Schema):
    """An author as readers see them."""

    name = fields.String(required=True)
    full_name = fields.String(required=True)


class PostSummarySchema(Schema):
    """A post as it stands in a list, without its text."""

    slug = fields.String(required=True)
    title = fields.String(required=True)
    author = fields.Nested(AuthorSchema, required=True)
    status = fields.Enum(Status, by_value=True, required=True)
    published_on = fields.Date(required=True, allow_none=True)
    tags = fields.List(fields.String(), required=True)


class PostSchema(PostSummarySchema):
    """A whole post."""

    body = fields.String(required=True)


class PostQuerySchema(Schema):
    """Which posts to list."""

    status = fields.Enum(Status, by_value=True, metadata={"description": "Only posts of this status"})
    tag = fields.String(metadata={"description": "Only posts with this tag"})
    limit = fields.Integer(
        load_default=20, validate=Range(min=1, max=100), metadata={"description": "How many to return"}
    )


class SearchSchema(Schema):
    """What to look for in the posts."""

    text = fields.String(
        required=True, validate=Length(min=2, max=100), metadata={"description": "Words to find, as written"}
    )
    limit = fields.Integer(
        load_default=20, validate=Range(min=1, max=100), metadata={"description": "How many to return"}
    )


class NewPostSchema(Schema):
    """What a new draft needs."""

    title = fields.String(required=True, validate=TITLE_RULE, metadata={"description": "The headline"})
    body = fields.String(required=True, validate=BODY_RULE, metadata={"description": "The text, in Markdown"})
    tags = fields.List(TAG, validate=TAGS_RULE, metadata={"description": "Up to eight, such as soil or bees"})


class PostChangesSchema(Schema):
    """What may be changed of a post; what is left out stays as it is."""

    title = fields.String(validate=TITLE_RULE, metadata={"description": "A new headline"})
    body = fields.String(validate=BODY_RULE, metadata={"description": "The whole new text, in Markdown"})
    tags = fields.List(TAG, validate=TAGS_RULE, metadata={"description": "All of its tags from now on"})


class SlugSchema(Schema):
    """Which post is meant."""

    slug = fields.String(required=True, metadata={"description": "The post's slug, as the lists give it"})


class PostEditSchema(PostChangesSchema, SlugSchema):
    """Which post is meant, and what is new about it."""
