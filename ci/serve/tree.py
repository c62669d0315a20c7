"""A random tree of files of many owners and modes, in which every name and every text has a word of its own."""

import os
import random
import re

# Modes of files, and of directories, in which who can list a file can read it, and in which all is possible.
OPEN = [0o644, 0o444], [0o755, 0o755, 0o755, 0o750, 0o711, 0o700, 0o733, 0o775, 0o705, 0o071]
MIXED = [0o644, 0o644, 0o640, 0o600, 0o604, 0o444, 0o000, 0o060, 0o006], [*OPEN[1], 0o744, 0o704, 0o440]

WORDS = [f"common{number}" for number in range(40)]


class Tree:
    """The files and directories, by the number that is in their name and their text."""

    def __init__(self, path, people, groups, files, modes, first, seed):
        self.path, self.random, (self.file_modes, directory_modes) = path, random.Random(seed), modes
        self.owners = [0] + [person.uid for person in people]
        self.groups = [0] + groups + [person.gid for person in people]
        self.number = first
        os.mkdir(path, 0o755)
        self.directories = [path]
        self.made = {}
        for _ in range(files // 6):
            self.add_directory()
        for _ in range(files):
            self.add_file()
        # From the inside out, as no rights are needed by root but names must not change.
        for directory in self.directories[1:]:
            self.set_rights(directory, directory_modes)

    def add_directory(self):
        number = self.next()
        path = os.path.join(self.random.choice(self.directories), f"dname{number}x")
        os.mkdir(path)
        self.directories.append(path)
        self.made[number] = path

    def add_file(self):
        number = self.next()
        extension = self.random.choice(["txt", "md", "log", f"ext{number}x"])
        path = os.path.join(self.random.choice(self.directories), f"fname{number}x.{extension}")
        words = self.random.choices(WORDS, k=self.random.randint(3, 60))
        words.insert(self.random.randrange(len(words)), f"secret{number}x")
        with open(path, "w") as out:
            out.write(" ".join(words) + "\n")
        at = 1_500_000_000 + self.random.randrange(200_000_000)
        os.utime(path, (at, at))
        self.set_rights(path, self.file_modes)
        self.made[number] = path

    def set_rights(self, path, modes):
        os.chown(path, self.random.choice(self.owners), self.random.choice(self.groups))
        os.chmod(path, self.random.choice(modes))

    def next(self):
        self.number += 1
        return self.number


def seen_now(paths):
    """The numbers of the names that this process can list, and of the texts that it can read."""
    names, texts = set(), set()
    waiting = list(paths)
    while waiting:
        directory = waiting.pop()
        try:
            entries = os.listdir(directory)
        except PermissionError:
            continue
        for name in entries:
            place = os.path.join(directory, name)
            try:
                is_directory = os.path.isdir(place)
                os.lstat(place)
            except PermissionError:
                is_directory = False
            names.add(number_of(name))
            if is_directory:
                waiting.append(place)
                continue
            try:
                with open(place, "rb") as text:
                    text.read(1)
                texts.add(number_of(name))
            except PermissionError:
                pass
    return names, texts


def number_of(name):
    return int(re.match(r"[df]name(\d+)x", name).group(1))
