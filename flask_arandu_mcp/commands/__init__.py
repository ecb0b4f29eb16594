"""The commands of `flask mcp`, a module each, and what several of them share."""
