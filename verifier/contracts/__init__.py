"""Optimizer contracts: what an optimizer declares of its state, checked without running it."""
