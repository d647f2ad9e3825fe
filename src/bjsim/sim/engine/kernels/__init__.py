"""The numba kernels. They import one another freely: `jit.compiled` recompiles all of them when one is edited."""
