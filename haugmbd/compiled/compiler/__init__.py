"""How kernels are compiled, linked and kept on disk: two layers, of which `jit` knows one.

choice          which layer: by the version of Numba
layer           what a layer does
plain           the layer on Numba's public interface
linked_kernels  the fast layer: the compilers of entries and of kernels
inlining        the inlining of functions, each read once
quick_contexts  Numba's contexts with a memory
quick_passes    Numba's passes without what kernels do not need
quick_lowering  Numba's lowering with fewer variables on the stack
quick_arrays    access to arrays in few LLVM instructions
code_cache      the disk cache of the fast layer
cache_stamp     the source texts that a cached machine code depends on
deferred        kernels that become Numba's at their first use
notices         what is said where compilation takes time
collection      a pause of the garbage collector
"""
