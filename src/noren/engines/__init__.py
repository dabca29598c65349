"""Where work runs: engines cut data into blocks and run kernels on them; a kernel never knows which engine."""
