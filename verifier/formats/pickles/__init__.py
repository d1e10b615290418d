"""Pickles and archives of torch.save, read without importing or calling anything."""
