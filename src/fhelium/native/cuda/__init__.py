"""What is particular to CUDA on the native side."""
