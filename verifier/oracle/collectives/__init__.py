"""Protocols on real process groups of gloo: the same program, one fault at a time, and a bounded wait."""
