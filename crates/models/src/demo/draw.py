"""The first ten squares as a bar chart, with the standard library alone."""

import struct, zlib

WIDE, HIGH = 440, 220
GROUND, BAR = bytes((247, 248, 250)), bytes((43, 84, 214))

def pixel(x, y):
    number, place = divmod(x - 20, 40)
    tall = 2 * (number + 1) ** 2
    inside = 20 <= x < 420 and place < 30 and HIGH - 10 - tall <= y < HIGH - 10
    return BAR if inside else GROUND

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(WIDE)) for y in range(HIGH))
with open("/app/shared/squares.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n")
    file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", WIDE, HIGH, 8, 2, 0, 0, 0)))
    file.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
