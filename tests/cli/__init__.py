"""The commands of `flask mcp`."""
