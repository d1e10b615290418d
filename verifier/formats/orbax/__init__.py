"""Checkpoints of JAX by Orbax."""
