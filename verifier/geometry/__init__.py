"""Exact integer geometry of strided views. Standard library only; imports nothing of this project."""
