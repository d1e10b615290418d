"""Views of a report. Findings are data; each module here is one way to write them down."""
