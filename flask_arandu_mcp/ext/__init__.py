"""Parts that need a library of their own: each module one library, imported by whoever uses it."""
