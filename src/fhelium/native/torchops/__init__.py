"""The folder of the compiled module `_ops.abi3.so` and its build manifest."""
