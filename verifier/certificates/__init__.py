"""Evidence for "proved": its forms, its JSON text, and the trusted checker, which imports nothing of ours."""
