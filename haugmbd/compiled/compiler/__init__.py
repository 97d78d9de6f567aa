"""How kernels are compiled, linked and kept on disk.

linked_kernels  the compilers of entries and of kernels
inlining        the inlining of functions, each read once
quick_contexts  Numba's contexts with a memory
quick_passes    Numba's passes without what kernels do not need
quick_lowering  Numba's lowering with fewer variables on the stack
quick_arrays    access to arrays in few LLVM instructions
collection      a pause of the garbage collector
code_cache      the disk cache of compiled code
cache_stamp     the source texts that a cached machine code depends on
"""
