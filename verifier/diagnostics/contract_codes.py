"""Codes of the rules of optimizer contracts: one for each rule, see ``rule_codes``.

Rows are (rule, name, what is wrong in one line without numbers).
"""

from __future__ import annotations

RULES: tuple[tuple[str, str, str], ...] = (
    ("R1", "malformed-name", "a name is empty, has outer blanks, inner ones or a NUL"),
    ("R2", "malformed-parameter-name", "a dotted name has an empty part"),
    ("R3", "malformed-shape", "a shape is no list of integers from 0 on"),
    ("R4", "identity-version", "the version of an identity is not the integer 1"),
    ("R5", "malformed-group", "the members of a group are no list of different names"),
    ("R9", "dimension-without-cut", "a dimension is named where none is cut, or the reverse"),
    ("R10", "malformed-interval", "offset and length of an interval are no integers from 0 on"),
    ("R11", "malformed-box", "offsets and lengths of a box are no equally long lists of integers"),
    ("R12", "box-leaves-parameter", "a box does not lie inside its parameter"),
    ("R14", "malformed-cut", "a cut has no parameter, no shards or no known layout"),
    ("R15", "region-unlike-layout", "a box stands where the layout has intervals, or the reverse"),
    ("R17", "interval-leaves-parameter", "an interval ends after the last element"),
    ("R18", "member-without-group", "a member or an owner is named where there is no group"),
    ("R19", "foreign-member", "a member or an owner is not of the group"),
    ("R20", "owner-without-owners", "an owner is named in a layout without owners"),
    ("R22", "dimension-outside", "the dimension that is cut does not exist"),
    ("R23", "partial-replica", "a replicated parameter without a group is not held whole"),
    ("R24", "flat-shard-without-group", "a flat shard is one among the members of a group"),
    ("R25", "owner-holds-part", "the owner does not hold all, or another member holds something"),
    ("R26", "second-dimension-cut", "a box is cut in more than the named dimension, or has no group"),
    ("R27", "no-shards", "a cut has no shards"),
    ("R28", "two-shapes", "one name stands for parameters of two shapes"),
    ("R29", "cut-twice", "one parameter is cut in two ways"),
    ("R30", "member-not-once", "the members of a group do not have one shard each"),
    ("R32", "flat-gap-or-overlap", "flat intervals leave a gap or overlap"),
    ("R33", "partial-replica-in-group", "a member of a replicated parameter does not hold all of it"),
    ("R34", "two-owners", "the members do not name one owner"),
    ("R36", "slices-out-of-order", "slices of a dimension do not follow each other in member order"),
    ("R37", "malformed-field-name", "the name of a state field is no text"),
    ("R38", "unknown-field-word", "scope, geometry or distribution of a field is no known word"),
    ("R39", "field-flag-no-bool", "a flag of a field is no bool"),
    ("R40", "malformed-modes", "the modes of a field are no list of names"),
    ("R43", "malformed-variant", "a variant lacks its name, fields or layouts, or lists one twice"),
    ("R44", "variant-flag-no-bool", "a flag or word of a variant is of the wrong type"),
    ("R45", "inactive-not-a-field", "an inactive field is none of the variant's fields"),
    ("R46", "malformed-ranks", "numbers of dimensions are repeated, empty, or both in and out"),
    ("R47", "repeated-name", "two fields, variants or namespaces have one name"),
    ("R48", "undeclared-field", "a variant has a field that is not declared for parameters"),
    ("R50", "malformed-training", "a training claim has a value of the wrong type"),
    ("R51", "malformed-checkpoint", "a checkpoint claim has a value of the wrong type, or is made twice"),
    ("R52", "change-without-kind", "layouts may change and no kind of change is named, or the reverse"),
    ("R53", "malformed-capability", "capabilities, precisions or ranks have a value of the wrong type"),
    ("R54", "malformed-child", "a child lacks its role or implementation"),
    ("R55", "malformed-contract", "the version is not the integer 1, or a role is there twice"),
    ("R59", "composite-trains-more", "a composite claims training that no child does"),
)

CLAIMS: tuple[tuple[str, str, str], ...] = (
    ("N1", "text-for-list", "a text stands where a list is due, or a name has blanks around it"),
    ("N2", "untyped-member", "a member of the contract is missing or of the wrong type"),
    ("N4", "shadowed-key", "one key is matched by two declarations"),
    ("N5", "twin-variants", "two variants have the same keys and nothing tells them apart"),
    ("N6", "training-without-variant", "something is trained that no initialised variant describes"),
    ("N7", "untrained-variant", "a variant is for what nobody trains"),
    ("N9", "metadata-with-tensor", "a variant of metadata holds a tensor, or is initialised"),
    ("N10", "extent-unlike-layout", "what a variant holds does not fit its layouts"),
    ("N11", "owner-without-role", "owners and those who own nothing are not told apart"),
    ("N12", "impossible-geometry", "a geometry lacks its size or axis, or dimensions of the parameter"),
    ("N13", "geometry-unlike-layout", "state or update cannot live on this layout"),
    ("N14", "inactive-outside-migration", "inactive fields are not some of a migration variant's"),
    ("N15", "unsaved-authority", "state that cannot be computed again is not saved, or the reverse"),
    ("N16", "required-optional", "a variant requires a field that may be absent"),
    ("N17", "untrained-mode", "a mode is used in which nobody trains"),
    ("N18", "empty-claims", "nothing is trained, no precision is supported, or a claim is made twice"),
    ("N19", "mesh-unlike-layout", "slices of a dimension lack mesh or group, or another layout has one"),
    ("N20", "collective-without-group", "something needs a group and there is none"),
    ("N21", "saved-but-untrained", "a layout is saved that is not trained, or changes and is not saved"),
    ("N22", "empty-checkpoint-claim", "a checkpoint claim names no layout"),
    ("N23", "transport-unlike-claim", "a transport does not do what the claim says"),
    ("N24", "change-without-map", "state is to be cut anew whose cut does not follow"),
    ("N25", "atomic-for-whom", "atomic loading is claimed without a scope, or over a child without it"),
    ("N26", "canonical-flag", "the flag for canonical state contradicts the transports"),
    ("N27", "flag-without-ground", "a capability is claimed without the one it rests on"),
    ("N28", "child-unlike-contract", "a child has a contract about another optimizer, or no namespace"),
    ("N29", "codebook-without-agreement", "a learned codebook is shared and nothing makes it equal"),
    ("N33", "representation-by-shard", "how state is represented depends on the cut"),
    ("N34", "scale-powers", "the declared scale powers contradict the equations"),
    ("N36", "dtype-lost-on-load", "a loader that casts changes state of another type"),
    ("N38", "unsaid-memory-form", "what memory form the update needs is of the wrong type"),
    ("N40", "empty-shard-unsaid", "what happens on an empty shard is no known word"),
)

REMARKS: tuple[tuple[str, str, str], ...] = (
    ("N3", "unknown-member", "the contract has a member that its form does not know"),
    ("N8", "unused-field", "a field of parameters is in no variant"),
    ("N30", "two-groups-of-a-name", "one name stands for two groups"),
    ("N31", "confusable-names", "two parameter names differ in case only, or one begins the other"),
)

INDUCED: tuple[tuple[str, str, str], ...] = (
    ("M1", "no-variant-for-cut", "no initialised variant is for parameters that are cut like this"),
    ("M3", "too-few-dimensions", "the parameter has too few dimensions for the field"),
    ("M4", "unequal-groups", "the groups that share elements overlap without being equal"),
    ("M5", "reduction-undeclared", "members share elements of the field and no reduction is declared"),
    ("M6", "split-block", "a cut goes through a block that has one value"),
    ("M7", "shard-local-blocks", "blocks begin anew in each shard"),
    ("M8", "run-time-block", "only a run knows the size of a block"),
    ("M9", "opaque-state", "nothing says what the field is made from"),
    ("M10", "mean-of-means", "a mean of means over unequal parts is not the mean"),
    ("M12", "split-factor", "a cut separates elements that a factor pairs"),
)

SYMMETRY: tuple[tuple[str, str, str], ...] = (
    ("S1", "stranded-rank", "a rank waits in a collective for one that never comes"),
    ("S2", "mismatched-collectives", "members of a group are in different collectives"),
    ("S3", "outcomes-differ", "some ranks return and others raise"),
    ("S4", "changed-and-raised", "a rank has changed state although one raises"),
)

DEVICES: tuple[tuple[str, str, str], ...] = (
    ("D1", "collective-not-there", "the back-end does not do a collective on this device"),
    ("D2", "no-such-cuda-device", "nccl is used without a CUDA device that exists"),
    ("D3", "mpi-not-cuda-aware", "mpi is used with CUDA tensors and nobody said that it can"),
    ("D4", "back-end-unknown", "no back-end is known for the device"),
    ("D5", "fake-back-end", "the fake back-end is used for agreement"),
    ("D6", "scope-without-handle", "several members have no group, or a single one has"),
    ("D7", "no-timeout", "a group has no timeout of its own"),
    ("D8", "votes-on-the-device", "votes are held on a device although the CPU is served"),
    ("D9", "coordinator-rank", "a group rank is taken for a global rank"),
)

PROBES: tuple[tuple[str, str, str], ...] = (
    ("OC601", "dirty-refusal", "an optimizer raises after it has replaced its live state"),
    ("OC602", "process-killed", "a corrupted state dict ends the process"),
    ("OC603", "half-a-step", "a step raises after it has changed parameters"),
    ("OC604", "silently-wrong", "an optimizer accepts a corrupted state dict and trains on wrong numbers"),
)
"""Rows of optimizer probes are (code, name, what is wrong)."""
