"""Damages of a results folder, for damage_test.py: each from a seed, so that it comes again."""

import gzip
import random

ODD_CELLS = (
    "0", "-1", "-0.000", "nan", "NaN", "inf", "-inf", "1e999", "1e5", "0x10", "", " ", "1 ", "²",
    "٣", "1,5", "1.", ".5", "+1", "1_0", "9" * 15, "9" * 16, "9" * 309, "9" * 4301, "1" + "0" * 20,
    "4000000000", "9999", "0." + "0" * 400 + "1", "none", "x" * 5000, "null", "1\x002", "\x1b[31m",
    "1\x0b", "1\u2028", "\u202e1")
HOSTILE = (
    "<script>alert(1)</script>", "[x](javascript:alert(1))", "a|b", "`x`", "*a* _b_ ~~c~~", "$x$",
    "{x}", "{gpu.__class__}", "{gpu:>3000000000}", "%s%n%(x)s", "\\input{/etc/passwd}",
    "%\\end{table}", "../../x", "; touch x", "$(touch x)", "'\"><img src=x onerror=alert(1)>", "#", "1. x", "- x",
    "\x1b]0;x\x07", "x\r", "x\x85y", "x\u2028y", "&lt;", "{", "}}", "\\", "x" * 20000)
KEYS = ("gpu", "gpu_count", "sms", "driver", "cuda_toolkit", "cuda_toolkit_before13",
        "suite_commit", "date_utc", "sm_clock_application", "compute_capability")


def lines_of(data):
    return data.split(b"\n")


def places(random_, lines):
    """(number of a line, its cells) of a row or a header."""
    known = [number for number, line in enumerate(lines) if b"\t" in line]
    number = random_.choice(known)
    return number, lines[number].split(b"\t")


def flip(r, data):
    place = r.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << r.randrange(8)]) + data[place + 1:]


def cut(r, data):
    return data[:r.randrange(len(data))]


def cut_at_a_line(r, data):
    lines = data.splitlines(keepends=True)
    return b"".join(lines[:r.randrange(len(lines))])


def lose(r, data):
    start = r.randrange(len(data))
    return data[:start] + data[start + r.choice((1, 2, 7, 100)):]


def insert(r, data):
    place = r.randrange(len(data))
    return data[:place] + r.choice((b"\t", b"\n", b"#", b"-", b"7", b".", b"\0", b"\xff", b"\r",
                                    b"# warning[x]: x\n", bytes(9))) + data[place:]


def odd_cell(r, data):
    lines = lines_of(data)
    number, cells = places(r, lines)
    cells[r.randrange(len(cells))] = r.choice(ODD_CELLS).encode()
    lines[number] = b"\t".join(cells)
    return b"\n".join(lines)


def other_digit(r, data):
    """Another number, which nobody can see to be damaged."""
    found = [place for place, letter in enumerate(data) if chr(letter) in "0123456789"]
    place = r.choice(found)
    return data[:place] + str(r.randrange(10)).encode() + data[place + 1:]


def hostile(r, data):
    """In a cell, in a comment or in a title."""
    lines = lines_of(data)
    number, text = r.randrange(len(lines)), r.choice(HOSTILE).encode()
    kind = r.randrange(3)
    if kind == 0 and b"\t" in lines[number]:
        lines[number] = text + lines[number][lines[number].index(b"\t"):]
    elif kind == 1:
        lines.insert(number, b"# warning[x]: " + text)
    else:
        lines[number] = lines[number] + b" " + text
    return b"\n".join(lines)


def other_lines(r, data):
    """Two are swapped, one is repeated, or one is lost."""
    lines = data.splitlines(keepends=True)
    one, other, kind = r.randrange(len(lines)), r.randrange(len(lines)), r.randrange(3)
    if kind == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 1:
        lines.insert(one, lines[other])
    else:
        del lines[one]
    return b"".join(lines)


def swap_columns(r, data):
    """Of a section, or of its header alone."""
    lines = lines_of(data)
    headers = [number for number, line in enumerate(lines)
               if line.startswith((b"method\t", b"key\t"))] or [0]
    first = r.choice(headers)
    columns = len(lines[first].split(b"\t"))
    one, other = r.randrange(columns), r.randrange(columns)
    last = first + 1
    while r.randrange(2) and last < len(lines) and lines[last] and b"method\t" not in lines[last]:
        last += 1
    for number in range(first, last):
        cells = lines[number].split(b"\t")
        if len(cells) == columns:
            cells[one], cells[other] = cells[other], cells[one]
        lines[number] = b"\t".join(cells)
    return b"\n".join(lines)


def other_header(r, data):
    lines = lines_of(data)
    headers = [number for number, line in enumerate(lines) if line.startswith(b"method\t")]
    if headers:
        number = r.choice(headers)
        cells = lines[number].split(b"\t")
        cells[r.randrange(1, len(cells))] = r.choice(
            (b"m(x)", b"m({x})", b"s(x)", b"GPUcount", b"GPUCount", b"bytes", b"clock", b"",
             b"m(basic_ttl)", b"m(thrput)", b"<b>", b"blk", b"right", b"m(" + b"x" * 9999 + b")"))
        lines[number] = b"\t".join(cells)
    return b"\n".join(lines)


def other_format(r, data):
    return r.choice((
        lambda: data.replace(b"\n", b"\r\n"), lambda: b"\xef\xbb\xbf" + data,
        lambda: data.decode().encode("utf-16"), lambda: data.decode().encode("utf-16-le"),
        lambda: gzip.compress(data, mtime=0), lambda: r.randbytes(len(data)), lambda: b"",
        lambda: data.replace(b"\n", b"\r"), lambda: data.replace(b"\t", b","), lambda: b"\n",
        lambda: data.replace(b"\t", b" "), lambda: data + data, lambda: data + b"\n",
        lambda: b"\xef\xbb\xbf" * 2 + data, lambda: bytes(len(data)),
        lambda: b"# simulated\n" + data,
        lambda: b"\n".join(reversed(data.split(b"\n")))))()


DAMAGES = (flip, flip, flip, other_digit, other_digit, cut, cut_at_a_line, lose, insert, odd_cell,
           odd_cell, odd_cell, hostile, other_lines, other_lines, other_lines, swap_columns,
           other_header, other_format)


def of_environment(r, data):
    """Another value of a key that is shown or used."""
    key = r.choice(KEYS).encode()
    lines = [line for line in lines_of(data) if not line.startswith(key + b"\t")]
    lines.insert(r.randrange(1, len(lines)), key + b"\t" + r.choice(HOSTILE + ODD_CELLS).encode())
    return b"\n".join(lines)


def damaged(files, seed):
    """(what was done, {name: bytes}) of a folder's files, of which one or two are others."""
    r, files = random.Random(seed), dict(files)
    name = r.choice([*sorted(files), *["environment.tsv"] * 3])
    if name == "environment.tsv" and r.randrange(3):
        files[name] = of_environment(r, files[name])
        return f"of_environment({seed})", files
    if r.randrange(20) == 0:
        other = r.choice(sorted(files))
        files[name], files[other] = files[other], files[name]
        return f"{name} is {other} ({seed})", files
    done = []
    for _ in range(r.choice((1, 1, 1, 2))):
        damage = r.choice(DAMAGES)
        if files[name].count(b"\n") > 2 and b"\t" in files[name]:
            try:
                files[name] = damage(r, files[name])
            except UnicodeDecodeError:
                continue  # no other format of what is no text by now
            done.append(damage.__name__)
    return f"{name}: {', '.join(done)} ({seed})", files
