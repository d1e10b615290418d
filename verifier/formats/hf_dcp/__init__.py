"""Distributed checkpoints of torch in Hugging Face's storage."""
