"""An independent reader of safetensors files, to check ours: the format's description and nothing else.

Prints a line a tensor, ordered by name (name, dtype, shape, sum of the elements), then the metadata and the
SHA-256 over all tensors' bytes ordered by name.
"""
import hashlib
import json
import math
import struct
import sys

FORMATS = {"F32": "f", "F64": "d", "I32": "i", "I64": "q", "U8": "B"}

with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
    data = file.read()
assert length % 8 == 0, "the data are not aligned"

metadata = header.pop("__metadata__", {})
digest = hashlib.sha256()
for name, entry in sorted(header.items()):
    begin, end = entry["data_offsets"]
    values = struct.unpack(f"<{math.prod(entry['shape'])}{FORMATS[entry['dtype']]}", data[begin:end])
    digest.update(data[begin:end])
    print(name, entry["dtype"], entry["shape"], sum(values))
print(metadata)
print(digest.hexdigest())
