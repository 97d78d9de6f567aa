"""The common base of all compiled functions.

array_types        types of the arrays that kernels take
jit                the decorators: kernel, inlined, entry, routine, released
array_views        matrices inside a flat array
subscripts         subscripts that are not negative
records            named numbers in place of numbered registers
function_pointers  compiled functions that are called by address
native_tuples      named tuples that compiled code receives as one address
ffi                calls of Python functions from compiled code
status_codes       error codes of compiled code

layer              what a layer of the compiler does, and kernels that become Numba's at their first use
choice             which of the two layers: by the version of Numba
plain_numba        the layer on Numba's public interface
fast_numba         the layer on the parts of Numba's compiler: how entries and kernels are compiled and linked
inlining           its inlining of functions, each read once
quick_contexts     its contexts with a memory, its passes without what kernels do not need, its lowering with fewer variables on the stack
quick_arrays       its access to arrays in few LLVM instructions
code_cache         its disk cache
cache_stamp        the source texts that a cached machine code depends on
notices            what is said where compilation takes time
collection         a pause of the garbage collector
"""
