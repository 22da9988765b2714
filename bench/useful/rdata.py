"""Data frames of R's .rda files (RDX2, RDX3; XDR), as lists of columns. Python's library only.

The format: "R Internals", section 1.8. What data frames are made of is read (pairlists, vectors,
texts, factors); anything else is refused.
"""
import bz2
import gzip
import lzma
import struct

PLAIN = {b"\x1f\x8b": gzip.decompress, b"BZ": bz2.decompress, b"\xfd7": lzma.decompress}
NOT_THERE = -2**31


class Reader:
    def __init__(self, data):
        self.data, self.at, self.symbols = data, 0, []

    def take(self, form, count=1):
        size = struct.calcsize(form) * count
        self.at += size
        return struct.unpack(f">{count}{form}", self.data[self.at - size:self.at])

    def whole(self):
        return self.take("i")[0]

    def item(self):
        """(value, {attribute: value})"""
        flags = self.whole()
        kind, has, tagged = flags & 255, flags & 512, flags & 1024
        if kind in (254, 253, 242):  # nothing, the global environment, the empty one
            return None, {}
        if kind == 255:
            return self.symbols[(flags >> 8 or self.whole()) - 1], {}
        if kind == 1:
            name = self.item()[0]
            self.symbols.append(name)
            return name, {}
        if kind == 2:
            return self.pairs(has, tagged)
        if kind == 9:
            length = self.whole()
            if length < 0:
                return None, {}
            self.at += length
            return self.data[self.at - length:self.at].decode("latin-1"), {}
        return self.vector(kind), self.item()[0] if has else {}

    def pairs(self, has, tagged):
        found = {}
        while True:
            if has:
                self.item()
            name = self.item()[0] if tagged else None
            found[name] = self.item()
            flags = self.whole()
            has, tagged = flags & 512, flags & 1024
            if flags & 255 != 2:
                return found, {}

    def vector(self, kind):
        length = self.whole()
        if kind in (10, 13):
            return [None if v == NOT_THERE else v for v in self.take("i", length)]
        if kind == 14:
            return list(self.take("d", length))
        if kind in (16, 19, 20):
            return [self.item() if kind != 16 else self.item()[0] for _ in range(length)]
        raise ValueError(f"an object of type {kind}")


def texts(attribute):
    return attribute[0] if attribute else None


def frame(path):
    """{name of a column: its values} of the first object in the file."""
    with open(path, "rb") as file:
        data = file.read()
    data = PLAIN.get(data[:2], bytes)(data)
    reader = Reader(data[5:])
    if data[:5] not in (b"RDX2\n", b"RDX3\n") or bytes(reader.take("B", 2)) != b"X\n":
        raise ValueError(f"{path}: not a file of R's save()")
    version = reader.whole()
    reader.take("i", 2)
    if version > 2:
        reader.take("B", reader.whole())
    ((columns, about),) = list(reader.item()[0].values())[:1]
    found = {}
    for name, (values, more) in zip(texts(about["names"]), columns):
        levels = texts(more.get("levels"))
        found[name] = [v if levels is None or v is None else levels[v - 1] for v in values]
    return found
