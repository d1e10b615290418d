"""Shapes of whole parameters, where a format does not store them."""
