"""Collective protocols: small programs that every rank of a group runs, and what can go wrong in them."""
