"""From a finding to the least example that still shows it, and from that to a case of the corpus."""
