"""Users of this machine, and what a process that takes on their identity sees."""

import grp
import os
import pickle
import pwd
import traceback


class Person:
    """A user, with the groups of a login."""

    def __init__(self, name):
        entry = pwd.getpwnam(name)
        self.name, self.uid, self.gid = name, entry.pw_uid, entry.pw_gid
        self.groups = sorted(os.getgrouplist(name, entry.pw_gid))

    def become(self):
        os.setgroups(self.groups)
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)

    def popen(self):
        """What subprocess needs to start a program as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": self.groups}


def ordinary(number, without=()):
    """System users other than root; every Debian has enough."""
    wanted = ["daemon", "bin", "games", "man", "lp", "mail", "news", "uucp", "backup", "list"]
    known = {entry.pw_name for entry in pwd.getpwall()}
    found = [name for name in wanted if name in known and name not in without]
    return [Person(name) for name in found[:number]]


def groups():
    """The groups of nobody in particular, for files."""
    return [group.gr_gid for group in grp.getgrall() if 0 < group.gr_gid < 100][:8]


def ask_as(person, run, *arguments):
    """The result of a function in a child process that has become a user."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            person.become()
            try:
                result = (True, run(*arguments))
            except BaseException:
                result = (False, traceback.format_exc())
            with os.fdopen(write, "wb") as out:
                pickle.dump(result, out)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    worked, value = pickle.loads(data)
    if not worked:
        raise AssertionError(f"as {person.name}: {value}")
    return value
