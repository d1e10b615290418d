"""Arrays in zarr."""
