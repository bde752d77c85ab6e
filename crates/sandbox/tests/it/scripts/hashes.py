import base64
import binascii
import hashlib
import hmac
import secrets

data = "数据 data".encode()
for name in ("md5", "sha1", "sha256", "sha3_256", "blake2b"):
    print(name, hashlib.new(name, data).hexdigest()[:32])
print(base64.b64encode(data).decode(), base64.urlsafe_b64decode(b"_-8="), base64.b32encode(b"hi"), base64.b85encode(b"abc"))
signature = hmac.new(b"key", data, "sha256").hexdigest()
print(signature, hmac.compare_digest(signature, signature), binascii.hexlify(b"\x00\xff"))
print(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000).hex(), len(secrets.token_bytes(16)))
