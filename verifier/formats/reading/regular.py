"""Opening regular files alone: reading a named pipe in the place of a file would wait for ever."""

from __future__ import annotations

import errno
import os
import stat


def regular(path: str, flags: int) -> int:
    """The ``opener`` of every file that a checkpoint names; links are followed.

    Raises:
        OSError: it is no regular file, or cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return descriptor
