"""Proofs for all sizes: a constructor runs on symbolic sizes, and what it makes is cancelled formally."""
