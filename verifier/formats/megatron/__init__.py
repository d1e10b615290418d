"""Checkpoints of Megatron-core."""
