"""Check a playhead recording without playhead: python verify_recording.py FILE (before 3.14 with backports.zstd)."""

import json
import re
import sys
from hashlib import sha256
from pathlib import Path

try:
    from compression import zstd
except ImportError:
    from backports import zstd

EVENT = re.compile(rb'(\{"seq":(\d+),"kind":"([^"]+)".*?)(?:,"body":(\{.*\})|,"erased":"([0-9a-f]{64})")\}', re.DOTALL)
BLOB = re.compile(rb'\{"salt":"[\w-]{16}","\$blob":"([0-9a-f]{64})","size":\d+\}')


def need(holds, what):
    if not holds:
        raise ValueError(what)


def plain_text(data):
    if not data.startswith(b"\x28\xb5\x2f\xfd"):
        return data
    need(data.endswith(b"playhead"), "the index at the end is missing")
    need(data[-20 - int.from_bytes(data[-12:-8], "little") :].startswith(b"\x5b\x2a\x4d\x18"), "the index")
    need(data[-78:-12] == sha256(data[:-78]).hexdigest().encode() + b'"}', "the stored bytes")
    return zstd.decompress(data)


def check(path):
    *lines, rest = plain_text(path.read_bytes()).split(b"\n")
    need(json.loads(lines[0])["playhead"] == 1, "another format")
    head, seq, marks, erased, sealed, inside = sha256(lines[0]).digest(), 0, 0, 0, False, set()
    for line in lines[1:]:
        if line.startswith(b'{"mark":'):
            need(line == b'{"mark":%d,"count":%d,"head":"%b"}' % (marks, seq, head.hex().encode()), f"mark {marks}")
            marks += 1
        elif line.startswith(b'{"blob":"'):
            need(sha256(line[82:-1]).hexdigest().encode() == line[9:73], f"the blob before event {seq}")
            inside.add(line[9:73])
        else:
            event = EVENT.fullmatch(line)
            need(event is not None and int(event[2]) == seq and not sealed, f"the line of event {seq}")
            body, sealed = event[4], event[3] == b"recording.sealed"
            need(not sealed or (json.loads(body)["count"], json.loads(body)["head"]) == (seq, head.hex()), "the seal")
            if (blob := BLOB.fullmatch(body or b"")) and blob[1] not in inside:
                folders = path.absolute().parents[:2]
                found = next(file for folder in folders for file in folder.glob(f"blobs/*/{blob[1].decode()}.zst"))
                need(sha256(zstd.decompress(found.read_bytes())).hexdigest().encode() == blob[1], f"blob of {seq}")
            digest = sha256(body).digest() if body else bytes.fromhex(event[5].decode())
            head, seq, erased = sha256(head + event[1] + digest).digest(), seq + 1, erased + (not body)
    need(not rest and lines[-1].startswith(b'{"mark":'), f"the tail is torn after event {seq - 1}")
    return f"ok: {seq} events, {'sealed' if sealed else 'not sealed'}, {erased} erased"


if __name__ == "__main__":
    sys.stdout.write(check(Path(sys.argv[1])) + "\n")  # what does not hold ends this with an error
