"""Reads and writes checkpoints in the format of docs/files.md, without Lockstep's code."""
import hashlib
import json
import struct


def metadata_of(content):
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8:8 + length])["__metadata__"]


def is_sound(content):
    """Whether the content matches its checksum."""
    try:
        digest = metadata_of(content)["sha256"]
    except (struct.error, ValueError, KeyError):
        return False
    plain = content.replace(f'"sha256":"{digest}"'.encode(), b'"sha256":"' + b"0" * 64 + b'"', 1)
    return hashlib.sha256(plain).hexdigest() == digest


def sealed(content, **changes):
    """The file with changed metadata and a matching checksum."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    header["__metadata__"] |= {**changes, "sha256": "0" * 64}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    plain = struct.pack("<Q", len(text)) + text + content[8 + length:]
    return plain.replace(b'"sha256":"' + b"0" * 64, f'"sha256":"{hashlib.sha256(plain).hexdigest()}'.encode(), 1)
