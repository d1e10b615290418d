"""Readers of the formats that carry shard maps. Nothing in a file is ever run; hostile files are refused."""

from verifier.formats.detect import checkpoints, read
from verifier.formats.document import BoxSubject, CaseExpect, Document, Refusal, Subject
from verifier.formats.limits import Limits
from verifier.formats.refusal import FormatError
from verifier.formats.registry import Format, formats
from verifier.formats.request import Request
from verifier.formats.resolve import resolve

__all__ = [
    "BoxSubject",
    "CaseExpect",
    "Document",
    "Format",
    "FormatError",
    "Limits",
    "Refusal",
    "Request",
    "Subject",
    "checkpoints",
    "formats",
    "read",
    "resolve",
]
