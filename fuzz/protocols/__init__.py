"""Protocols of collectives: drawn at random, damaged, and held against every run of them."""
