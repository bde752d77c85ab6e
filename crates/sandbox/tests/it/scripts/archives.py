import gzip
import io
import tarfile
import zipfile
import zlib

data = ("line of text\n" * 500).encode()
packed = gzip.compress(data, mtime=0)
print(len(packed) < len(data), gzip.decompress(packed) == data, zlib.crc32(data), zlib.adler32(b"x"))
with zipfile.ZipFile("shared/a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("docs/one.txt", "first")
    archive.writestr("二.txt", "second")
with zipfile.ZipFile("shared/a.zip") as archive:
    for info in archive.infolist():
        print(info.filename, info.file_size, archive.read(info).decode())
    archive.extractall("shared/unpacked")
print(open("shared/unpacked/docs/one.txt").read(), zipfile.is_zipfile("shared/a.zip"))
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
    info = tarfile.TarInfo("hello.txt")
    info.size = 5
    archive.addfile(info, io.BytesIO(b"hello"))
buffer.seek(0)
with tarfile.open(fileobj=buffer) as archive:
    print(archive.getnames(), archive.extractfile("hello.txt").read())
