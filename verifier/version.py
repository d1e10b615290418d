"""The version of shardproof, in one place that costs nothing to read at start-up."""

from __future__ import annotations

VERSION = "0.1.0"
