"""Probes on real optimizers: whether they do what they declare, and what they do when handed damage."""
