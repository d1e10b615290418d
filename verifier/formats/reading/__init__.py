"""What readers have in common: documents, refusals, limits, fields of strict JSON and places in it."""
