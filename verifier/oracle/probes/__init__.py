"""Probes on real optimizers: what they do with a state that is not as it should be."""
