//! What the child gives up before it reads a file of unknown origin. Each step stands alone: where the kernel
//! lacks one, the others still take effect. The programs that a parser starts inherit all of it.

use std::io;

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::set_no_new_privs;

use super::{calls, paths};

/// Descriptors that a child may have.
const DESCRIPTORS: u64 = 64;

/// How many bytes a child may write to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// None.
    Nothing,
    /// This number of bytes to a file in memory (memfd), for a program that needs a path. Landlock refuses
    /// other files.
    Memory(u64),
}

/// What took effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Limits of descriptors, core files and written bytes.
    pub resources: bool,
    /// No program can gain rights, such as by set-user-id.
    pub no_new_privileges: bool,
    /// No process of the same user can read its memory, and it leaves no core file.
    pub not_dumpable: bool,
    /// Landlock: files can be read only below the paths of programs, and no file can be written.
    pub files: bool,
    /// Landlock: no TCP (Linux 6.7).
    pub tcp: bool,
    /// Landlock: no signals to processes outside (Linux 6.12).
    pub signals: bool,
    /// Seccomp: no sockets and none of the system calls that reach beyond the process.
    pub system_calls: bool,
}

impl Confinement {
    /// All parts, with a name for each.
    pub fn parts(&self) -> [(&'static str, bool); 7] {
        [
            ("resource limits", self.resources),
            ("no new privileges", self.no_new_privileges),
            ("not dumpable", self.not_dumpable),
            ("files (Landlock)", self.files),
            ("TCP (Landlock)", self.tcp),
            ("signals (Landlock)", self.signals),
            ("system calls (seccomp)", self.system_calls),
        ]
    }
}

/// Confines this process. Call it once, at the start of `main`, while there is one thread; [`super::serve`]
/// then limits the memory as the requests say.
pub fn confine(written: Written) -> Confinement {
    let resources = limit_resources(written).is_ok();
    let no_new_privileges = set_no_new_privs(true).is_ok();
    let not_dumpable = set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok();
    let landlock = paths::restrict().unwrap_or_default();
    let system_calls = no_new_privileges && calls::restrict();
    Confinement {
        resources,
        no_new_privileges,
        not_dumpable,
        files: landlock.files,
        tcp: landlock.tcp,
        signals: landlock.signals,
        system_calls,
    }
}

fn limit_resources(written: Written) -> io::Result<()> {
    let bytes = match written {
        Written::Nothing => 0,
        Written::Memory(bytes) => bytes,
    };
    for (resource, limit) in [(Resource::Core, 0), (Resource::Nofile, DESCRIPTORS), (Resource::Fsize, bytes)]
    {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    Ok(())
}
