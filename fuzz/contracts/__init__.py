"""Contracts of optimizers, cuts and geometries: drawn at random, damaged, and held against definitions."""
