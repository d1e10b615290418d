"""Readers of the formats that carry shard maps. Nothing in a file is ever run; hostile files are refused."""

from verifier.formats.detect import read
from verifier.formats.reading.document import BoxSubject, CaseExpect, Document, Refusal, Subject
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, NoMapError
from verifier.formats.reading.request import Request
from verifier.formats.reading.resolve import resolve
from verifier.formats.registry import Format, formats
from verifier.formats.search import Found, Search, found_at

__all__ = [
    "BoxSubject",
    "CaseExpect",
    "Document",
    "Format",
    "FormatError",
    "Found",
    "Limits",
    "NoMapError",
    "Refusal",
    "Request",
    "Search",
    "Subject",
    "formats",
    "found_at",
    "read",
    "resolve",
]
