"""Running things: from documents to verdicts, findings and reports."""
