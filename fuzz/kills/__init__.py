"""Every mutant against every engine."""
