"""The two ways in which the protocol has been spoken. Each era admits a message, dresses its result and knows the HTTP
status that an answer goes out with."""
