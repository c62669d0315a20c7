//! Which files the child and its programs may open: programs with their libraries, fonts and tables, for
//! reading only. The files to extract come as open descriptors. Landlock enforces it, and refuses TCP and
//! signals where it can.

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// The newest rules that this file was written for. An older kernel enforces those that it has.
const RULES: ABI = ABI::V6;

/// Directories and files that can be read, and programs that can be run. Absent ones are skipped. Of `/etc`,
/// only tables for programs: the whole of it has secrets.
const READ: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/sbin",
    "/opt",
    "/nix",
    "/gnu",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/papersize",
    "/etc/xpdf",
    "/proc/self",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];

/// Devices that can be written too.
const WRITE: &[&str] = &["/dev/null"];

/// What Landlock enforces.
#[derive(Default)]
pub(super) struct LandlockParts {
    pub(super) files: bool,
    pub(super) tcp: bool,
    pub(super) signals: bool,
}

/// Restricts this thread and those that it will start.
pub(super) fn restrict() -> Result<LandlockParts, RulesetError> {
    let reading = AccessFs::from_read(RULES);
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(RULES))?
        .handle_access(AccessNet::from_all(RULES))?
        .scope(Scope::from_all(RULES))?
        .create()?
        .add_rules(path_beneath_rules(READ, reading))?
        .add_rules(path_beneath_rules(WRITE, AccessFs::ReadFile | AccessFs::WriteFile))?
        .restrict_self()?;
    Ok(parts(&status))
}

fn parts(status: &RestrictionStatus) -> LandlockParts {
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => ABI::Unsupported,
    };
    let enforced = status.ruleset != RulesetStatus::NotEnforced;
    LandlockParts {
        files: enforced && abi >= ABI::V1,
        tcp: enforced && abi >= ABI::V4,
        signals: enforced && abi >= ABI::V6,
    }
}
