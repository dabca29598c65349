"""The same arithmetic on a graphics processor: one array library, PyTorch, on whatever device it has.

Everything here takes NumPy arrays and gives NumPy arrays back, and runs on Torch's tensors of the processor too, which
is how it is tested where there is no graphics processor. Kernels that Torch has no operation for are written in Triton,
which comes with Torch for CUDA; each has a plain twin that says the same in Torch's own operations. PyTorch is loaded
when work is handed to it, never before.
"""
