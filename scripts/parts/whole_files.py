"""Writes files that are whole under their names, or not there: beside them first, then renamed."""

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

from parts.command_line import Stop, signals_held

UNFINISHED = ".unfinished"  # in the folder; what a killed script leaves there, the next removes


def write(folder, files):
    """files: {path in the folder: text or bytes; None: not to be there}. No link in the folder
    is followed: that of a file is replaced, that of a folder is an error. Where something cannot
    be written or a signal comes, all files are those of before."""
    folder, target = Path(folder), Path(folder)
    new = folder / UNFINISHED
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone_in(folder):
            try:
                _remove(new)
                for path, content in files.items():
                    target = folder / path
                    _check(folder, target)
                    if content is not None:
                        _write(new / path, content)
                with signals_held():
                    for path, content in files.items():
                        target = folder / path
                        _put(new / path if content is not None else None, target)
            finally:
                shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        raise Stop(1, f"cannot write {target}: {error.strerror}") from None


@contextlib.contextmanager
def _alone_in(folder):
    """Another script that writes there waits."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _check(folder, target):
    """That nothing in the way makes the renaming fail half done."""
    for parent in target.parents:
        if parent == folder:
            break
        if parent.is_symlink():
            raise OSError(0, f"{parent} is a link; remove it")
        if parent.exists() and not parent.is_dir():
            raise OSError(0, f"{parent} is not a folder")
    if target.is_dir() and not target.is_symlink():
        raise OSError(0, "it is a folder")


def _write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes)
                     else content.encode(errors="backslashreplace"))


def _put(new, target):
    if new:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(new, target)
    else:
        target.unlink(missing_ok=True)


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
