"""Algebra on plain arrays: Euler parameters, small vectors, the compiler's door."""
