"""Everything that an assistant can reach on the blog is in this one file. It adds no rules of its own: the
services and policies that answer the pages and the API answer here too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marshmallow import fields
from marshmallow.validate import Length, OneOf

from flask_arandu_mcp import (
    ArandoMCP,
    Message,
    Request,
    Server,
    Tool,
    endpoint_tool,
    endpoints,
    prompt,
    public,
    resource,
    signed_in,
    tool,
)

from .accounts import user_by_name
from .models import Post, Status, User
from .policies import is_editor, user_of
from .schemas import (
    NewPostSchema,
    PostChangesSchema,
    PostEditSchema,
    PostQuerySchema,
    PostSchema,
    PostSummarySchema,
    SearchSchema,
    SlugSchema,
)
from .services import PostService, Statistics, TagCount

posts = PostService()


class ListPosts(Tool):
    name = "list_posts"
    title = "List posts"
    description = "Lists the posts that the caller may see, drafts first and then the newest, without their text."
    access = public
    arguments = PostQuerySchema
    result = PostSummarySchema(many=True)
    read_only = True

    def handle(
        self, request: Request, limit: int, status: Status | None = None, tag: str | None = None
    ) -> Sequence[Post]:
        return posts.list(request.subject, status=status, tag=tag, limit=limit)


@tool(access=public, arguments=SearchSchema, result=PostSummarySchema(many=True), read_only=True)
def search_posts(request: Request, text: str, limit: int) -> Sequence[Post]:
    """Finds the posts that have a text in their title or body; upper and lower case are the same."""
    return posts.search(request.subject, text, limit=limit)


@tool(access=public, arguments=SlugSchema, result=PostSchema, read_only=True)
def get_post(request: Request, slug: str) -> Post:
    """Reads one post with its text."""
    return posts.get(request.subject, slug)


@tool(access=public, read_only=True)
def list_tags(request: Request) -> Sequence[TagCount]:
    """Lists the tags in use and on how many posts each stands, the most used first."""
    return posts.tags(request.subject)


@tool(access=public, read_only=True)
def whoami(request: Request) -> str:
    """Tells on whose behalf the assistant acts on this blog."""
    user = user_of(request.subject)
    if user is None:
        return "You act as a guest, who may read what is published."
    return f"You act as {user.full_name} ({user.name}), {user.role.value} on this blog."


class CreateDraft(Tool):
    name = "create_draft"
    title = "Write a draft"
    description = "Writes a new draft that belongs to the caller. It is not public until it is published."
    access = signed_in
    arguments = NewPostSchema
    result = PostSchema
    destructive = False

    def handle(self, request: Request, title: str, body: str, tags: Sequence[str] = ()) -> Post:
        return posts.create(request.subject, title=title, body=body, tags=tags)


class EditPost(Tool):
    name = "edit_post"
    title = "Edit a post"
    description = "Changes the title, the text or the tags of a post; what is left out stays as it is."
    access = signed_in
    arguments = PostEditSchema
    result = PostSchema
    destructive = True
    idempotent = True

    def handle(self, request: Request, slug: str, **changes: Any) -> Post:
        return posts.edit(request.subject, slug, **changes)


@tool(access=signed_in, arguments=SlugSchema, destructive=False, idempotent=True)
def publish_post(request: Request, slug: str) -> str:
    """Makes a draft public, for everyone to read."""
    post = posts.publish(request.subject, slug)
    return f"“{post.title}” is public since {post.published_on}."


@tool(access=signed_in, arguments=SlugSchema, destructive=True)
def delete_post(request: Request, slug: str) -> str:
    """Deletes one post for good."""
    posts.delete(request.subject, slug)
    return f"Deleted {slug}."


@tool(access=is_editor, read_only=True)
def blog_statistics(request: Request) -> Statistics:
    """Counts all posts by status and author, hidden drafts included; for editors."""
    return posts.statistics(request.subject)


@resource("blog://about", access=public)
def about(request: Request) -> str:
    """What this blog is."""
    return (
        "The Common Plot is the blog of a garden that four households share: Ana and Ben write, Eda edits.\n"
        "Posts are public once they are published; drafts are seen by their author and by editors.\n"
    )


@resource("blog://drafts", access=signed_in, mime_type="text/markdown")
def drafts(request: Request) -> str:
    """The drafts that the caller may see, one a line."""
    found = posts.list(request.subject, status=Status.DRAFT, limit=100)
    return "".join(f"- {post.title} (blog://posts/{post.slug}), by {post.author.full_name}\n" for post in found)


@resource("blog://posts/{slug}", access=public, mime_type="text/markdown")
def post_text(request: Request, slug: str) -> str:
    """The text of one post."""
    return as_markdown(posts.get(request.subject, slug))


@prompt(
    access=public,
    arguments={
        "topic": fields.String(
            required=True, validate=Length(max=200), metadata={"description": "What the post is about"}
        ),
        "readers": fields.String(
            load_default="beginners",
            validate=OneOf(["beginners", "old hands"]),
            metadata={"description": "Who it is for"},
        ),
    },
)
def outline(request: Request, topic: str, readers: str) -> list[Message]:
    """Outlines a new post."""
    known = ", ".join(count["tag"] for count in posts.tags(request.subject))
    return [
        Message.user(
            f"Outline a post for a garden blog about {topic}, written for {readers}. "
            f"Look for what the blog has said already, and choose from its tags: {known}."
        ),
        Message.assistant("Here is a first cut, with a line on what each part should tell:"),
    ]


@prompt(access=signed_in, arguments=SlugSchema)
def review_post(request: Request, slug: str) -> str:
    """Asks for a critical reading of a post that the caller may see."""
    text = as_markdown(posts.get(request.subject, slug))
    return f"Read this post as a strict but friendly editor. Name what is unclear, wrong or too long.\n\n{text}"


def as_markdown(post: Post) -> str:
    """A post as one Markdown text."""
    return f"# {post.title}\n\n*{post.author.full_name}, {post.published_on or 'draft'}*\n\n{post.body}\n"


server = Server(
    name="blog",
    version="1.0.0",
    title="The Common Plot",
    instructions="The posts of a shared garden's blog. Drafts are not public: do not repeat them to others.",
    tools=[
        ListPosts(),
        search_posts,
        get_post,
        list_tags,
        whoami,
        CreateDraft(),
        EditPost(),
        publish_post,
        delete_post,
        blog_statistics,
    ],
    resources=[about, drafts, post_text],
    prompts=[outline, review_post],
)

mcp = ArandoMCP(server=server)


@mcp.local_subject
def assistant() -> User | None:
    """Who an assistant on this machine acts as: a user of its own, with what that user may do."""
    return user_by_name("assistant")


# The JSON API as it stands, at an address of its own. What refuses a route refuses its tool; the schemas are said here
# since the views load them by hand.
api_server = Server(
    name="blog-api",
    version="1.0.0",
    title="The Common Plot, as its API has it",
    access=public,
    tools=[
        endpoint_tool("api.list_posts", arguments=PostQuerySchema, result=PostSummarySchema(many=True)),
        endpoint_tool("api.search_posts", arguments=SearchSchema, result=PostSummarySchema(many=True)),
        endpoint_tool("api.get_post", result=PostSchema),
        endpoint_tool("api.create_post", access=signed_in, arguments=NewPostSchema, result=PostSchema),
        endpoint_tool("api.edit_post", access=signed_in, arguments=PostChangesSchema, result=PostSchema),
        endpoint_tool("api.delete_post", access=signed_in, confirm="Delete the post {slug} for good?"),
        endpoints(["api.publish_post", "api.list_tags", "api.statistics"]),
    ],
)

api_mcp = ArandoMCP(server=api_server, name="api", url="/mcp/api")
api_mcp.local_subject(assistant)
