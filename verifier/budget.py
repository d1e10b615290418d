"""How much work a question may cost. Counts, not seconds: verdicts do not depend on the machine's mood."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one question.

    Attributes:
        distinct_strides: most distinct strides of one hull component that ``cancel`` takes on.
        monomials: most signed monomials ``cancel`` may hold.
        boxes: most digit boxes the ``boxes`` engine may make.
        search_nodes: nodes of bounded search, for all pairs of one question together.
        pairs: most pairs of views examined one by one.
        addresses: most addresses ``enumerate`` may list.
        isl_operations: isl's own operation limit for one equation; twice that for all of one question.
        z3_rlimit: z3's own resource limit for one question.
        kill_seconds: wall clock after which z3 is stopped should it overrun its rlimit; only a safety net: 20
            times what the slowest question known takes to spend the rlimit.
    """

    distinct_strides: int = 12
    monomials: int = 4_000_000
    boxes: int = 1_000_000
    search_nodes: int = 200_000
    pairs: int = 200_000
    addresses: int = 2_000_000
    isl_operations: int = 30_000
    z3_rlimit: int = 1_000_000
    kill_seconds: float = 600.0

    def scaled(self, factor: float) -> Budget:
        """The same budget with every count multiplied, the wall clock too; strides grow by its logarithm."""
        if factor <= 0:
            raise ValueError(f"budget factor {factor} is not positive")
        return Budget(
            distinct_strides=self.distinct_strides + max(0, int(factor).bit_length() - 1),
            monomials=int(self.monomials * factor),
            boxes=int(self.boxes * factor),
            search_nodes=int(self.search_nodes * factor),
            pairs=int(self.pairs * factor),
            addresses=int(self.addresses * factor),
            isl_operations=int(self.isl_operations * factor),
            z3_rlimit=int(self.z3_rlimit * factor),
            kill_seconds=self.kill_seconds * factor,
        )
