"""The tests of flask_arandu_mcp, through its public door."""
