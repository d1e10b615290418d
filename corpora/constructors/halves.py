"""A right constructor and a wrong one, which the others choose between."""


def cut(width, starts, lengths):
    """Intervals of a vector, one for each rank."""
    pieces = [
        {"shape": [length], "source": [start, [1]], "dest": [0, [1]], "locations": [rank]}
        for rank, (start, length) in enumerate(zip(starts, lengths, strict=True))
    ]
    ranks = {rank: {"shard_shape": [length], "pieces": [pieces[rank]]} for rank, length in enumerate(lengths)}
    return {"logical_shape": [width], "ranks": ranks}


def halves(n):
    """Right for every size."""
    return cut(n, [0, n // 2], [n // 2, n - n // 2])


def broken(n):
    """Wrong for every size: the first half has an element of the second."""
    return cut(n, [0, n // 2], [n // 2 + 1, n - n // 2])
