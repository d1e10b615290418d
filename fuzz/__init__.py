"""The fuzzing harness: maps whose answer is known, and everything that must agree about them."""
