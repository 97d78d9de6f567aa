"""The flat arrays that compiled code works on.

layout      names, places and shapes of everything in the arrays; the records that carry them
accessors   the matrices by name, for kernels
"""
