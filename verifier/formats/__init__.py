"""Readers of the formats that carry shard maps. Nothing in a file is ever run; hostile files are refused."""

from verifier.formats.detect import read
from verifier.formats.document import CaseExpect, Document, Refusal, Subject
from verifier.formats.limits import Limits
from verifier.formats.refusal import FormatError
from verifier.formats.resolve import resolve

__all__ = ["CaseExpect", "Document", "FormatError", "Limits", "Refusal", "Subject", "read", "resolve"]
