"""The official clients that are written in TypeScript, driven for real: the SDK's, old and new, and the Inspector's."""
