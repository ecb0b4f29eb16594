"""The methods of the protocol. `table` says which of them an era serves, and what the server must have for it."""
