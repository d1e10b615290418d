"""The result of a campaign as sections, and sections as text, markdown and JSON."""
