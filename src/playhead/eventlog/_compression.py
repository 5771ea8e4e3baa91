"""zstd: in the standard library from Python 3.14, in ``backports.zstd`` before."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

MAGIC: Final = b"\x28\xb5\x2f\xfd"
"""How a zstd frame begins."""


def zstd() -> ModuleType:
    """The module, imported when it is first needed since reading a plain recording does without."""
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module


def compress(data: bytes, *, level: int) -> bytes:
    """One frame that holds its plain size and a checksum."""
    z = zstd()
    options = {
        z.CompressionParameter.compression_level: level,
        z.CompressionParameter.checksum_flag: 1,
        z.CompressionParameter.content_size_flag: 1,
    }
    packed: bytes = z.compress(data, options=options)
    return packed


def new_decompressor() -> Any:
    """A decompressor of one frame whose window cannot ask for more than 128 MiB."""
    z = zstd()
    return z.ZstdDecompressor(options={z.DecompressionParameter.window_log_max: 27})
