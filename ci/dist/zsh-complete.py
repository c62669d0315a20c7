#!/usr/bin/env python3
"""Prints what zsh makes of a command line when a user presses the tab key: zsh completes only at a terminal.

Usage: ci/dist/zsh-complete.py DIRECTORY_OF_FUNCTIONS LINE
"""

import os
import pty
import re
import select
import sys
import time

LIMIT = 30.0


def read_until(terminal, mark):
    """What the terminal shows, up to a mark, or all if the mark does not come in time."""
    shown, end = "", time.monotonic() + LIMIT
    while not re.search(mark, shown) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
    return shown


def main():
    functions, line = sys.argv[1:]
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", PS1="")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    # The arithmetic keeps the echo of a command from looking like its output.
    setup = f"PS1=; PROMPT_EOL_MARK=; fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D"
    os.write(terminal, f"{setup}; print set-$((1+1))\n".encode())
    read_until(terminal, "set-2")
    # The key prints the line and its completions so far, whatever the terminal can do.
    os.write(terminal, b"show() { print -r -- \"[line] $BUFFER [end-$((1+1))]\" }; zle -N show; bindkey '^B' show; print set-$((2+1))\n")
    read_until(terminal, "set-3")
    os.write(terminal, f"{line}\t".encode())
    time.sleep(1)
    os.write(terminal, b"\x02")
    shown = read_until(terminal, r"\[end-2\]")
    found = re.search(r"\[line\] (.*?) \[end-2\]", shown, re.DOTALL)
    print(found[1].replace("\r", "") if found else shown)
    os.close(terminal)
    os.waitpid(child, 0)


main()
