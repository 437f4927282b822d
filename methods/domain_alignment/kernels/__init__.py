"""Kernels: values in tiles, bandwidths, coordinates of the samples in a kernel's space."""
