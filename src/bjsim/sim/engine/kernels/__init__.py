"""The numba kernels. They may import each other: `jit.compiled` recompiles all of them when one is edited."""
