"""The gate for layout constructors: for all sizes of a declared domain, from real code."""
