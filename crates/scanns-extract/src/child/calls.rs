//! Which system calls are refused, by seccomp: those that reach beyond the process, and those that would take
//! it out of the process group by which the engine ends it. A refused call fails with EPERM, so a library
//! that tries one goes on.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

/// System calls that are always refused.
const REFUSED: &[libc::c_long] = &[
    // Sockets: only the one to the engine, and pairs.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Changes to files that Landlock does not cover.
    libc::SYS_truncate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // The kernel and the machine.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_quotactl,
    libc::SYS_fanotify_init,
    libc::SYS_syslog,
];

/// The C library's interface has these for x86-64 only.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// The same number on all processors; the C library's interface has it for some.
const FCHMODAT2: libc::c_long = 452;

/// On x86-64, the kernel may take the same calls with this bit (the x32 interface).
const X32: i64 = 0x4000_0000;

/// Installs the filter for this thread and those that it will start. `false` where the kernel or processor
/// has none.
pub(super) fn restrict() -> bool {
    filter().is_some_and(|filter| apply_filter(&filter).is_ok())
}

fn filter() -> Option<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain(REFUSED_HERE).map(|&call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_socketpair, vec![datagram_pairs()?]);
    rules.insert(libc::SYS_prlimit64, vec![limits_of_others()?]);
    if cfg!(target_arch = "x86_64") {
        let with_bit: Vec<_> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
        rules.extend(with_bit);
    }
    let refuse = SeccompAction::Errno(u32::try_from(libc::EPERM).ok()?);
    let architecture = std::env::consts::ARCH.try_into().ok()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).ok()?.try_into().ok()
}

/// A socket of a pair of datagram sockets can send to any other; the type is in the low bits of argument 1.
fn datagram_pairs() -> Option<SeccompRule> {
    let datagram = u64::try_from(libc::SOCK_DGRAM).ok()?;
    let masked = SeccompCmpOp::MaskedEq(0xf);
    let condition = SeccompCondition::new(1, SeccompCmpArgLen::Dword, masked, datagram).ok()?;
    SeccompRule::new(vec![condition]).ok()
}

/// Argument 0 is the process; 0 is the caller itself.
fn limits_of_others() -> Option<SeccompRule> {
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0).ok()?;
    SeccompRule::new(vec![condition]).ok()
}
