"""Studies: one mechanism through many methods, and one method through many mechanisms.

sweeps    many cells of parameters: grid, list, random or ask and tell; on disk as they come
"""
