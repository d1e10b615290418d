"""Ways to decide a question, all behind one interface and one conformance suite."""
