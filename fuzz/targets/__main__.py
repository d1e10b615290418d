"""Coverage-guided fuzzing of the readers, the engines and the checker of certificates.

    python -m fuzz.targets geometry --time 120     fuzz one target
    python -m fuzz.targets --smoke 60              all targets, a quarter of the time each
    python -m fuzz.targets geometry --replay FILE  give inputs to a target, without a fuzzer

The exit status is 0 when no fault was found, 70 when one was (a bug of shardproof; the input and the command
that shows it again are named), 2 when it could not run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.targets.catalogue import NAMES
from fuzz.targets.replaying import replay
from fuzz.targets.session import CannotRunError, Session, fuzz

FAULT = 70
"""Exit status of a bug in the tool."""
CANNOT_RUN = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz or replay as the arguments say."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if (options.target is None) == (options.smoke is None):
        parser.error("name one target, or say --smoke SECONDS")
    for given in ("replay", "corpus"):
        if options.target is None and getattr(options, given):
            parser.error(f"--{given} needs the target that the inputs are for")
    try:
        if options.replay:
            return _replay(options.target, options.replay)
        return max(_fuzz(session) for session in _sessions(options))
    except (CannotRunError, OSError) as error:
        print(error, file=sys.stderr)
        return CANNOT_RUN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.targets",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", nargs="?", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--time", type=int, default=60, metavar="SECONDS", help="how long to fuzz (60)")
    parser.add_argument("--smoke", type=int, metavar="SECONDS", help="all targets, in that time together")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="inputs to replay")
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="inputs to start from (corpora/seeds/NAME)"
    )
    parser.add_argument(
        "--artifacts",
        type=Path,
        default=Path("artifacts"),
        metavar="DIR",
        help="for inputs that show a fault",
    )
    parser.add_argument("--rss", type=int, default=2048, metavar="MB", help="most memory (2048)")
    parser.add_argument("--keep", action="store_true", help="add inputs with new coverage to the corpus")
    return parser


def _sessions(options: argparse.Namespace) -> list[Session]:
    targets = NAMES if options.target is None else (options.target,)
    seconds = options.time if options.smoke is None else max(1, options.smoke // len(NAMES))
    return [
        Session(
            target=target,
            seconds=seconds,
            corpus=options.corpus,
            artifacts=options.artifacts,
            rss=options.rss,
            keep=options.keep,
        )
        for target in targets
    ]


def _fuzz(session: Session) -> int:
    outcome = fuzz(session)
    for words in outcome.words(session.target):
        print(words, flush=True)
    return FAULT if outcome.faults else 0


def _replay(target: str, paths: Sequence[Path]) -> int:
    failures = replay(target, paths)
    for failure in failures:
        print(failure)
    print(f"{target}: {len(paths)} inputs, {len(failures)} faults")
    return FAULT if failures else 0


if __name__ == "__main__":
    sys.exit(main())
