r"""A seal: the SHA-256 of all bytes of a file, as its last bytes, so that a damaged file is refused before any library takes it apart.

.npz    the comment of the zip archive          .nc    bytes after the end that HDF5 knows of

Libraries that read these formats pass over the seal.  A file without one may have been written anew by another program: its variables
carry digests of their own (`schema`).
"""

from __future__ import annotations

import hashlib
import struct

from haugmbd.errors import UsageError

MARK = b"haugmbd sha256 "
LENGTH = len(MARK) + 64


def seal(data: bytes) -> bytes:
    """Return the data followed by its seal."""
    return data + MARK + hashlib.sha256(data).hexdigest().encode()


def seal_zip(data: bytes) -> bytes:
    """Return a zip archive with its seal as the archive's comment, with the length of the comment."""
    return seal(data[:-2] + struct.pack("<H", LENGTH))


def check_seal(data: bytes) -> None:
    """Raise UsageError if the data have a seal that does not match."""
    body, last = data[:-LENGTH], data[-LENGTH:]
    if last.startswith(MARK) and seal(body) != data:
        raise UsageError("the file is damaged: its checksum is not that of its bytes")
