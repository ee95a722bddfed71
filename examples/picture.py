"""Pictures of arrays as PNG files, with the standard library alone.

A palette is a row of colours; values between two of them get a colour between:

    save(Path("ramp.png"), colored(numpy.linspace(0, 1, 256).reshape(16, 16), HEAT))
"""

import struct
import zlib
from pathlib import Path

import numpy

HEAT = ((10, 10, 40), (110, 20, 110), (220, 60, 50), (250, 180, 40), (255, 255, 220))
SEA = ((5, 25, 70), (30, 100, 170), (235, 245, 250), (240, 150, 90), (110, 20, 30))
INK = ((250, 248, 240), (25, 30, 60))


def colored(values, palette, low=None, high=None):
    """Red, green and blue for each value; `low` and `high` get the palette's ends."""
    values = numpy.asarray(values, dtype=float)
    low = values.min() if low is None else low
    high = values.max() if high is None else high
    share = (values - low) / (high - low) if high > low else numpy.zeros(values.shape)
    stops = numpy.linspace(0, 1, len(palette))
    bands = [numpy.interp(share, stops, band) for band in zip(*palette, strict=True)]
    return numpy.stack(bands, axis=-1).round().astype(numpy.uint8)


def save(path: Path, pixels) -> None:
    """Write an array of (height, width, 3) bytes as a PNG file."""
    height, width, _ = pixels.shape
    rows = numpy.zeros((height, 1 + 3 * width), dtype=numpy.uint8)  # a zero: a row without a filter
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits each of three colours
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*one) for one in chunks))


def chunk(name: bytes, content: bytes) -> bytes:
    """One part of a PNG file: length, name, content, check sum."""
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)
