"""What an author declares: tools, resources and prompts. Each kind has a module; what they share is in `base`."""
