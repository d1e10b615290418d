"""A small universe, completely."""
