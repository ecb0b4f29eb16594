"""The blog's own tests. Each starts from a freshly seeded blog in a folder of its own."""
