"""Tests of an app's MCP server: a client that acts as the app's users, and what an app's endpoints and their tools are
compared by."""

from __future__ import annotations

from .client import MCPClient
from .kinds import CompletionResult, Listing, PromptResult, ResourceResult, ToolResult
from .parity import assert_policy_parity
from .questions import Answer, Answers, Question
from .results import Result, Step

__all__ = [
    "Answer",
    "Answers",
    "CompletionResult",
    "Listing",
    "MCPClient",
    "PromptResult",
    "Question",
    "ResourceResult",
    "Result",
    "Step",
    "ToolResult",
    "assert_policy_parity",
]
