"""What all compiled functions share.

array_types         types of the arrays that kernels take
jit                 the decorators: kernel, inlined, entry, routine
array_views         matrices inside a flat array
records             named numbers in place of numbered registers
function_pointers   compiled functions that are called by address
code_cache          where compiled code is kept on disk
cache_stamp         which texts a cached machine code depends on
ffi                 calls of Python functions from compiled code
status_codes        how compiled code says what went wrong
"""
