import io
import struct

header = struct.Struct("<4sHHIq")
packed = header.pack(b"CGT1", 1, 2, 0xDEADBEEF, -5)
print(packed.hex(" "), header.size, header.unpack(packed))
print(struct.unpack(">3d", struct.pack(">3d", 1.5, -2.25, 1e-300)), (1000).to_bytes(3, "big"), int.from_bytes(b"\xff\xfe", "little", signed=True))
stream = io.BytesIO()
for text in ("one", "двa", "三"):
    data = text.encode()
    stream.write(struct.pack("!H", len(data)) + data)
stream.seek(0)
while head := stream.read(2):
    print(stream.read(struct.unpack("!H", head)[0]).decode())
view = memoryview(bytearray(b"abcdef"))
view[1:3] = b"XY"
print(bytes(view), view[::2].tolist())
