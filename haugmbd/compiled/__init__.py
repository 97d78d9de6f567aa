"""The common base of all compiled functions.

array_types        types of the arrays that kernels take
jit                the decorators: kernel, inlined, entry, routine, released
array_views        matrices inside a flat array
subscripts         subscripts that are not negative
records            named numbers in place of numbered registers
function_pointers  compiled functions that are called by address
native_tuples      named tuples that compiled code receives as one address
compiler           how kernels are compiled, linked and kept on disk
ffi                calls of Python functions from compiled code
status_codes       error codes of compiled code
"""
