"""Faults in words: from (map, fault) to a finding.

``Fault.values`` per code; whoever builds a fault fills these, whoever narrates it relies on them:

======================  ==================================================================================
SM101, SM102            ``reached`` address, ``size`` of the space, ``lowest``, ``highest`` of the view
SM105                   ``axis``, ``stride``, ``view`` ("source" or "dest")
SM106                   ``scale`` as text
SM108                   ``unknown`` ranks
SM109                   ``what`` it is (a noun phrase), its ``value``, the ``bits`` it should fit
SM201, SM202, SM203     ``size`` of the shard
SM204, SM507            ``descriptor`` (who says so), what it has ``stated``, what was ``found`` in the map;
                        SM507 may have the ``pointer`` of the difference
SM302                   ``holder`` rank
SM303                   ``scales`` as texts
SM401, SM402, SM403     ``declared`` ranks, ``holders``: the ranks that hold the element
SM404                   ``holders`` that differ, their ``patterns`` of bits as texts, perhaps ``who`` they are
SM501                   ``here``, ``there`` (noun phrases); for a differing place also ``source``, ``dest``;
                        perhaps ``between`` what: names of the two documents
SM502                   ``reason``: which side lacks what
SM505                   ``scale``, ``expected`` as texts
SM506                   ``unit`` in elements, ``writers`` ranks
SM701, SM702            ``view`` ("source" or "dest")
SM704                   ``scale`` as text
SM901, SM902, SM903     ``obligation`` (a noun phrase), ``reason``
CK101                   ``file`` that is missing, ``descriptor`` that asks for it, what it has ``stated``;
                        or as the next ones
CK102 to CK118, CK2xx   see ``sets``: ``what``, ``found``, and perhaps ``stated``, ``file``, ``reason``
======================  ==================================================================================

SM107, SM301, SM703 have none. None of them holds a file name or a line: findings are compared by them.
"""

from verifier.diagnostics.narrate.faults import narrate
from verifier.diagnostics.narrate.refusals import refusal_finding

__all__ = ["narrate", "refusal_finding"]
