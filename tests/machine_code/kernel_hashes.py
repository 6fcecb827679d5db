"""Hashes of the machine code of all kernels in executables."""
import collections
import hashlib
import re
import struct
import subprocess
import tempfile

from machine_code import extract


# What a name has of its file.
_STATIC = re.compile(r"__nv_static_\d+__\w+?_cu_\w{8}(?:_\d+)?_(?=_Z)")
_UNNAMED = re.compile(r"\d+_(?:GLOBAL__N_|INTERNAL)_\w{8}_\d+_\w+?_cu_\w{8}(?:_\d+)?")


def plain(symbol):
    """Without what it has of its file."""
    return _UNNAMED.sub("12_GLOBAL__N_1", _STATIC.sub("", symbol))


def sections_of(elf):
    """[(name, content)] of 64-bit ELF code, with plain names."""
    start, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3a)
    heads = [struct.unpack_from("<IIQQQQIIQQ", elf, start + i * size) for i in range(count)]

    def text(table, offset):
        begin = heads[table][4] + offset
        return plain(elf[begin:elf.index(b"\0", begin)].decode())

    for name, kind, _, _, offset, length, link, _, _, _ in heads:
        content = elf[offset:offset + length] if kind != 8 else length  # 8: it has no bits
        if kind in (4, 9):  # relocations: symbols by name, as their numbers are of the file
            strings, symbols = heads[link][6], heads[link][4]
            content = [
                (at, how & 0xffffffff, more,
                 text(strings, struct.unpack_from("<I", elf, symbols + 24 * (how >> 32))[0]))
                for at, how, *more in struct.iter_unpack("<QQq" if kind == 4 else "<QQ", content)]
        yield text(names, name), content


def of(executables):
    """{name: {(digest, instructions)}} of all kernels and functions. A branch leads to a distance,
    so that the same instructions are the same bytes in any file."""
    digests = collections.defaultdict(set)
    seen = set()  # executables share most of their code
    for executable in executables:
        with tempfile.TemporaryDirectory() as folder:
            pieces = extract(executable, folder)
        for _, architecture, elf in pieces:
            if elf in seen:
                continue
            seen.add(elf)
            parts, size = collections.defaultdict(list), {}
            for name, content in sections_of(elf):
                kind = re.match(r"\.(?:rela?\.)?(?:text|nv\.constant\d|nv\.shared)\.", name)
                if kind:
                    parts[name[kind.end():]].append((kind[0], content))
                if kind and kind[0] == ".text.":
                    size[name[kind.end():]] = len(content) // 16
            for symbol in size:
                content = repr(sorted(parts[symbol])).replace(symbol, "itself")
                digest = hashlib.sha256(content.encode()).hexdigest()
                digests[architecture, symbol].add((digest, size[symbol]))
    names = subprocess.run(["c++filt"], input="\n".join(symbol for _, symbol in digests),
                           check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    kernels = collections.defaultdict(set)
    for name, ((architecture, _), found) in zip(names, digests.items()):
        kernels[f"{architecture} {name}"] |= found
    return kernels
