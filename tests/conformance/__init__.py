"""The protocol's official conformance suite, run against a server that declares all that it wants to see."""
