//! File systems and directories that a scan leaves out unless they are named: views of the kernel, and
//! snapshots.
//!
//! A pseudo file system is recognised by the magic number that `fstatfs` tells, not by its name or path.
//! devtmpfs has the number of tmpfs: it is entered, as its nodes are entries of which users ask. autofs is
//! entered, as it leads to files of users.
//!
//! A directory with snapshots shows each file of its file system again, once for each snapshot. Its name
//! alone does not tell: `.snapshots` may be a directory of backups that a user made. So the file system must
//! be one that makes directories with this name. On btrfs, the directory must also be the root of a
//! subvolume, which always has the inode 256. On ext4, XFS and tmpfs every name is ordinary.

use rustix::fs::StatFs;

/// Magic numbers of file systems that show the kernel's state, from the kernel's headers.
const PSEUDO: [u32; 29] = [
    0x0000_9fa0, // proc
    0x0000_9fa1, // openpromfs
    0x0000_9fa2, // usbdevfs
    0x0000_1cd1, // devpts
    0x6265_6572, // sysfs
    0x6265_6570, // configfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x5a3c_69f0, // apparmorfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0xcafe_4a11, // bpf
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0x6573_5543, // fusectl
    0x1980_0202, // mqueue
    0x9584_58f6, // hugetlbfs
    0x4249_4e4d, // binfmt_misc
    0x6e73_6673, // nsfs
    0x6759_6969, // rpc_pipefs
    0x6e66_7364, // nfsd
    0x0765_5821, // resctrl
    0x6c6f_6f70, // binder
    0xabba_1974, // xenfs
    0x0a64_7361, // functionfs
    0x76a9_f425, // ocfs2_dlmfs
];

const BTRFS: u32 = 0x9123_683e;
/// The inode of the root of every subvolume of btrfs.
const SUBVOLUME: u64 = 256;

/// Names of directories with snapshots, and the magic numbers of file systems that make them: ZFS, NFS, GPFS,
/// CIFS, SMB 2, PanFS, Ceph and btrfs.
const SNAPSHOTS: [(&[u8], &[u32]); 4] = [
    (b".zfs", &[0x2fc1_2fc1, 0x0000_6969]),
    (b".snapshot", &[0x0000_6969, 0x4750_4653, 0xff53_4d42, 0xfe53_4d42, 0xaad7_aaea, 0x00c3_6400]),
    (b".snapshots", &[0x0000_6969, 0x4750_4653, BTRFS]),
    (b"~snapshot", &[0x0000_6969, 0xff53_4d42, 0xfe53_4d42]),
];

/// The magic number of a file system.
pub(super) fn magic(found: &StatFs) -> u32 {
    // The type of the field has 32 or 64 bits and may be signed; the number has 32.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "all numbers have 32 bits")]
    let magic = found.f_type as u32;
    magic
}

/// True for a pseudo file system.
pub(super) fn is_pseudo(magic: u32) -> bool {
    PSEUDO.contains(&magic)
}

/// True for a name that some file system gives to a directory with snapshots.
pub(super) fn may_be_snapshots(name: &[u8]) -> bool {
    matches!(name.first(), Some(b'.' | b'~')) && SNAPSHOTS.iter().any(|(known, _)| *known == name)
}

/// True if a directory contains snapshots, by its name, its inode and the magic number of its file system.
pub(super) fn is_snapshots(name: &[u8], inode: u64, magic: u32) -> bool {
    let makes = |known: &(&[u8], &[u32])| known.0 == name && known.1.contains(&magic);
    SNAPSHOTS.iter().any(makes) && (magic != BTRFS || inode == SUBVOLUME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_have_a_name_and_a_file_system_that_makes_it() {
        let (nfs, ext4, zfs) = (0x6969, 0xef53, 0x2fc1_2fc1);
        for (name, inode, magic, expected) in [
            (&b".snapshot"[..], 1, nfs, true),
            (b".snapshots", 256, BTRFS, true),
            (b".snapshots", 257, BTRFS, false),
            (b".snapshots", 256, ext4, false),
            (b".zfs", 1, zfs, true),
            (b".zfs", 1, ext4, false),
            (b"snapshot", 1, nfs, false),
        ] {
            assert_eq!(is_snapshots(name, inode, magic), expected, "{name:?} {inode} {magic:x}");
            assert!(may_be_snapshots(name) || !expected);
        }
        assert!(!may_be_snapshots(b"") && !may_be_snapshots(b".s"));
    }

    #[test]
    fn proc_and_sys_are_pseudo_file_systems_and_the_root_is_none() {
        for (path, expected) in [("/proc", true), ("/sys", true), ("/", false), ("/dev/pts", true)] {
            match rustix::fs::statfs(path) {
                Ok(found) => assert_eq!(is_pseudo(magic(&found)), expected, "{path}"),
                Err(error) => println!("SKIPPED {path}: {error}"),
            }
        }
    }
}
