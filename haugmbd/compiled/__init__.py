"""The common base of all compiled functions.

array_types         types of the arrays that kernels take
jit                 the decorators: kernel, inlined, entry, routine
inlining            the inlining of functions before LLVM
array_views         matrices inside a flat array
records             named numbers in place of numbered registers
function_pointers   compiled functions that are called by address
native_tuples       named tuples that compiled code receives as one address
linked_kernels      the compilers of entries and of kernels
inlining            the inlining of functions, each read once
type_inference      a type inference that remembers
collection          a pause of the garbage collector
released            entries that run beside other threads
code_cache          the disk cache of compiled code
cache_stamp         the source texts that a cached machine code depends on
ffi                 calls of Python functions from compiled code
status_codes        error codes of compiled code
"""
