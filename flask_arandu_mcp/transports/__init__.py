"""The ways in: HTTP through a Blueprint, and a pipe through `flask mcp start`. Neither knows what a method does."""
