"""Implicit one-step methods: one Newton iteration for all of them, and one method per file."""
