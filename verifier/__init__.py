"""Prove or refute shard maps."""
