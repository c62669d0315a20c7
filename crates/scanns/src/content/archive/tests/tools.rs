//! Archives that the tools of the system write.

use std::collections::BTreeMap;

use super::super::{ArchiveFormat, MemberKind};
use super::tree::{self, Expected, Names};
use super::{Found, has_tool, has_zip_for_pipes, random, read_intact, shell};

/// What a format keeps.
#[derive(Clone, Copy)]
struct Keeps {
    /// Nanoseconds of one unit of the times.
    time_unit: i64,
    /// Whether a hard link tells its target and has no content.
    links: bool,
    owners: bool,
}

const TAR: Keeps = Keeps { time_unit: 1_000_000_000, links: true, owners: true };

/// Compares an archive with the tree of which it was made.
fn compare(found: &[Found], expected: &BTreeMap<Vec<u8>, Expected>, keeps: Keeps, tool: &str) {
    let paths: Vec<_> = found.iter().map(|found| found.member.path.clone()).collect();
    let mut sorted = paths.clone();
    sorted.sort();
    assert_eq!(sorted, expected.keys().cloned().collect::<Vec<_>>(), "{tool}");
    for one in found {
        let want = &expected[&one.member.path];
        let context = format!("{tool}: {}", one.path());
        let content = one.content.as_ref().unwrap();
        if one.member.kind == MemberKind::HardLink {
            assert!(want.links > 1, "{context}");
            assert!(content.is_empty());
            if keeps.links {
                let target = one.member.target.as_ref().unwrap();
                assert_eq!(expected[target].inode, want.inode, "{context}");
            }
        } else {
            assert_eq!(one.member.kind, want.kind, "{context}");
            assert!(*content == want.content, "{context}: {} != {}", content.len(), want.content.len());
            if want.kind == MemberKind::File {
                assert_eq!(one.member.size, want.content.len() as u64, "{context}");
            }
            assert_eq!(one.member.target, want.target, "{context}");
        }
        assert_eq!(one.member.mode, Some(want.mode), "{context}");
        let unit = keeps.time_unit;
        let modified = one.member.modified.unwrap();
        assert_eq!(modified.div_euclid(unit), want.modified.div_euclid(unit), "{context}");
        if keeps.owners {
            assert_eq!((one.member.uid, one.member.gid), (Some(want.uid), Some(want.gid)), "{context}");
        }
    }
    // The content of hard links must be somewhere.
    for want in expected.values().filter(|want| want.kind == MemberKind::File && !want.content.is_empty()) {
        assert!(
            found
                .iter()
                .any(|one| one.member.kind == MemberKind::File
                    && expected[&one.member.path].inode == want.inode),
            "{tool}"
        );
    }
}

/// Makes a tree, runs a command in its parent, and compares the archive that the command prints.
fn compare_command(names: Names, format: ArchiveFormat, keeps: Keeps, command: &str) {
    let mut random = random(command);
    for _ in 0..4 {
        let root = tempfile::tempdir().unwrap();
        tree::make(root.path(), names, &mut random);
        let archive = shell(root.path(), command);
        let found = read_intact(format, &archive);
        compare(&found, &tree::expected(root.path()), keeps, command);
    }
}

#[test]
fn gnu_tar_is_read_in_all_its_formats() {
    if !has_tool("tar") {
        return;
    }
    for (format, names) in [
        ("v7", Names::Short),
        ("ustar", Names::Short),
        ("oldgnu", Names::Any),
        ("gnu", Names::Any),
        ("pax", Names::Any),
    ] {
        let time_unit = if format == "pax" { 1 } else { TAR.time_unit };
        let keeps = Keeps { time_unit, ..TAR };
        for path in ["tree", "./tree", "././/tree"] {
            let command = format!("tar --format={format} -cf - {path}");
            compare_command(names, ArchiveFormat::Tar, keeps, &command);
        }
    }
}

#[test]
fn bsdtar_is_read_in_all_its_formats() {
    if !has_tool("bsdtar") {
        return;
    }
    let second = TAR.time_unit;
    let plain = Keeps { time_unit: second, links: false, owners: true };
    compare_command(Names::Short, ArchiveFormat::Tar, TAR, "bsdtar --format=ustar -cf - tree");
    compare_command(Names::Any, ArchiveFormat::Tar, TAR, "bsdtar --format=gnutar -cf - tree");
    let pax = Keeps { time_unit: 1, ..TAR };
    compare_command(Names::Any, ArchiveFormat::Tar, pax, "LC_ALL=C bsdtar --format=pax -cf - tree");
    compare_command(Names::Any, ArchiveFormat::Cpio, plain, "bsdtar --format=newc -cf - tree");
    compare_command(Names::Any, ArchiveFormat::Cpio, plain, "bsdtar --format=cpio -cf - tree");
    compare_command(Names::Any, ArchiveFormat::Zip, plain, "LC_ALL=C bsdtar --format=zip -cf - tree");
}

#[test]
fn gnu_cpio_is_read_in_all_its_formats() {
    if !has_tool("cpio") {
        return;
    }
    let keeps = Keeps { time_unit: TAR.time_unit, links: false, owners: true };
    for format in ["newc", "crc", "odc", "bin"] {
        let command = format!("find tree -print0 | cpio --quiet -0 -o -H {format} 2>/dev/null");
        compare_command(Names::Any, ArchiveFormat::Cpio, keeps, &command);
    }
    for format in ["ustar", "tar"] {
        let command = format!("find tree -print0 | cpio --quiet -0 -o -H {format}");
        compare_command(Names::Short, ArchiveFormat::Tar, TAR, &command);
    }
}

#[test]
fn binary_cpio_is_read_in_the_other_byte_order() {
    if !has_tool("cpio") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    tree::make(root.path(), Names::Short, &mut random("byte order"));
    let mut archive = shell(root.path(), "find tree -print0 | cpio --quiet -0 -o -H bin");
    let found = read_intact(ArchiveFormat::Cpio, &archive);
    let mut at = 0;
    for one in &found {
        archive[at..at + 26].chunks_mut(2).for_each(|pair| pair.swap(0, 1));
        let offset = usize::try_from(one.member.offset).unwrap();
        let size = usize::try_from(one.member.size).unwrap();
        at = offset + size.next_multiple_of(2);
    }
    archive[at..at + 26].chunks_mut(2).for_each(|pair| pair.swap(0, 1));
    assert_eq!(read_intact(ArchiveFormat::Cpio, &archive), found);
}

#[test]
fn ar_archives_of_gnu_and_bsd_are_read() {
    let root = tempfile::tempdir().unwrap();
    let mut expected = BTreeMap::new();
    for (name, length) in [("a.o", 3), ("a name of exactly 20", 4), ("fifteen bytes.o", 5), ("z", 0)] {
        let content: Vec<u8> = name.bytes().cycle().take(length).collect();
        std::fs::write(root.path().join(name), &content).unwrap();
        expected.insert(name.as_bytes().to_vec(), content);
    }
    for (tool, command) in [
        ("ar", "ar rcU out.a * && cat out.a"),
        ("ar", "rm -f out.a; ar rcD out.a * && cat out.a"),
        ("bsdtar", "rm -f out.a; bsdtar --format=arbsd -cf - *"),
    ] {
        if has_tool(tool) {
            let found = read_intact(ArchiveFormat::Ar, &shell(root.path(), command));
            let contents: BTreeMap<_, _> =
                found.iter().map(|one| (one.member.path.clone(), one.content.clone().unwrap())).collect();
            assert_eq!(contents, expected, "{command}");
            assert!(found.iter().all(|one| one.member.mode == Some(0o644) && one.member.modified.is_some()));
        }
    }
}

#[test]
fn a_padded_ar_archive_is_read() {
    if !has_tool("bsdtar") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let archive = shell(root.path(), "printf abc >a.o; printf d >b; bsdtar --format=argnu -cf - a.o b");
    let found = read_intact(ArchiveFormat::Ar, &archive);
    assert_eq!(found.iter().map(Found::path).collect::<Vec<_>>(), ["a.o", "b"]);
    assert_eq!(found[1].content.as_deref(), Ok(&b"d"[..]));
}

#[test]
fn zip_is_read_by_its_directory() {
    if !has_tool("zip") {
        return;
    }
    let keeps = Keeps { time_unit: TAR.time_unit, links: false, owners: true };
    let is_piped = has_zip_for_pipes();
    for command in [
        "zip -qry - tree | cat",
        "zip -qr -0 -y out.zip tree && cat out.zip",
        "zip -qr -9 -y -fz out.zip tree && cat out.zip",
        "zip -qr -Z bzip2 -y out.zip tree && cat out.zip",
        "zip -qry out.zip tree && echo comment | zip -qz out.zip && cat out.zip",
    ] {
        if is_piped || !command.ends_with("| cat") {
            compare_command(Names::Short, ArchiveFormat::Zip, keeps, command);
        }
    }
}

#[test]
fn a_program_may_stand_before_a_zip() {
    if !has_tool("zip") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    tree::make(root.path(), Names::Short, &mut random("sfx"));
    let is_piped = has_zip_for_pipes();
    for command in ["zip -qry - tree | cat", "zip -qry -fz out.zip tree; cat out.zip"] {
        if !is_piped && command.ends_with("| cat") {
            continue;
        }
        let archive = shell(root.path(), command);
        let mut found = read_intact(ArchiveFormat::Zip, &archive);
        let moved = [&b"#!/bin/sh\nPK\x05\x06 not this one\n"[..], &archive].concat();
        let (behind, report) = super::read_all(ArchiveFormat::Zip, &moved, &Default::default());
        assert!(report.error.is_none(), "{:?}", report.error);
        for one in &mut found {
            one.member.offset += (moved.len() - archive.len()) as u64;
        }
        assert_eq!(behind, found);
    }
}

/// Runs a script of Python that prints an archive.
fn python(script: &str) -> Option<Vec<u8>> {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("make.py"), script).unwrap();
    has_tool("python3").then(|| shell(root.path(), "python3 make.py"))
}

#[test]
fn zip_methods_of_python_are_read_and_encryption_is_told() {
    let script = "
import io, sys, zipfile
out = io.BytesIO()
with zipfile.ZipFile(out, 'w') as archive:
    for method in (0, 8, 12, 14):
        for length in (0, 1, 100_000):
            info = zipfile.ZipInfo(f'{method}-{length}-\u{e4}', (2026, 2, 27, 23, 59, 58))
            info.compress_type = method
            archive.writestr(info, b'abcdefg' * length)
sys.stdout.buffer.write(out.getvalue())";
    let Some(archive) = python(script) else { return };
    let found = read_intact(ArchiveFormat::Zip, &archive);
    assert_eq!(found.len(), 12);
    for one in &found {
        let path = String::from_utf8(one.member.path.clone()).unwrap();
        let length = path.split('-').nth(1).unwrap().parse().unwrap();
        assert!(path.ends_with('ä'));
        assert_eq!(one.content.as_ref().unwrap(), &b"abcdefg".repeat(length), "{path}");
        assert_eq!(one.member.modified, Some(1_772_236_798_000_000_000));
    }
}

#[test]
fn an_encrypted_zip_member_fails_alone() {
    if !has_tool("zip") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let command = "echo a >a; echo b >b; zip -q -P secret out.zip a; zip -q out.zip b; cat out.zip";
    let archive = shell(root.path(), command);
    let (found, report) = super::read_all(ArchiveFormat::Zip, &archive, &Default::default());
    assert!(report.error.is_none());
    assert_eq!(found[0].error(), "this member is encrypted");
    assert_eq!(found[1].content.as_deref(), Ok(&b"b\n"[..]));
}

#[test]
fn xz_and_zstd_in_a_zip_are_read() {
    for (tool, command, method) in [("xz", "xz -9 --stdout", 95_u16), ("zstd", "zstd -q --stdout", 93)] {
        if has_tool(tool) {
            let root = tempfile::tempdir().unwrap();
            let content = b"some content of a member ".repeat(1000);
            std::fs::write(root.path().join("in"), &content).unwrap();
            let stored = shell(root.path(), &format!("{command} in"));
            let archive = super::made::zip_of(&[super::made::ZipPart::new(b"m", method, &content, &stored)]);
            let found = read_intact(ArchiveFormat::Zip, &archive);
            assert_eq!(found[0].content.as_ref(), Ok(&content));
        }
    }
}

#[test]
fn sparse_files_are_expanded() {
    if !has_tool("tar") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let make = "
        printf start >few; truncate -s 300000 few; printf middle >>few; truncate -s 1000000 few
        truncate -s 5000000 empty; printf plain >plain
        for i in $(seq 60); do printf 'part %d' $i | dd of=many bs=65536 seek=$i conv=notrunc 2>&-; done
        printf x >whole; cat many >/dev/null";
    shell(root.path(), make);
    for options in [
        "--format=oldgnu",
        "--format=gnu",
        "--format=pax --sparse-version=0.0",
        "--format=pax --sparse-version=0.1",
        "--format=pax --sparse-version=1.0",
    ] {
        for detection in ["raw", "seek"] {
            let command =
                format!("tar -S --hole-detection={detection} {options} -cf - empty few many plain whole");
            let archive = shell(root.path(), &command);
            assert!(archive.len() < 700_000, "{command} wrote no sparse files: {}", archive.len());
            let found = read_intact(ArchiveFormat::Tar, &archive);
            assert_eq!(found.len(), 5);
            for one in &found {
                let want = std::fs::read(tree::in_root(root.path(), &one.member.path)).unwrap();
                assert!(one.content.as_ref().unwrap() == &want, "{command}: {}", one.path());
                assert_eq!(one.member.size, want.len() as u64, "{command}: {}", one.path());
            }
        }
    }
}

#[test]
fn tar_archives_of_python_are_read() {
    let script = r"
import io, sys, tarfile
out = io.BytesIO()
for format in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
    with tarfile.open(fileobj=out, mode='w', format=format) as archive:
        for number, name in enumerate(['a', 'd/' + 'b' * 90, ('c' * 50 + '/') * 4 + 'end']):
            info = tarfile.TarInfo(name)
            info.size = number; info.mtime = 7; info.mode = 0o640
            info.uname = 'someone'; info.gname = 'some'
            info.uid = 2097151 if format == tarfile.USTAR_FORMAT else 4000000000
            archive.addfile(info, io.BytesIO(b'x' * number))
sys.stdout.buffer.write(out.getvalue())";
    let Some(archive) = python(script) else { return };
    let found = read_intact(ArchiveFormat::Tar, &archive);
    assert_eq!(found.len(), 9, "the archives after the first are read, too");
    for (index, one) in found.iter().enumerate() {
        let member = &one.member;
        assert_eq!(member.size, index as u64 % 3);
        assert_eq!((member.modified, member.mode), (Some(7_000_000_000), Some(0o640)));
        assert_eq!(member.owner.as_deref(), Some(&b"someone"[..]));
        assert_eq!(member.group.as_deref(), Some(&b"some"[..]));
        assert_eq!(member.uid, Some(if index < 3 { 2_097_151 } else { 4_000_000_000 }));
        let lengths = [1, 92, 207];
        assert_eq!(member.path.len(), lengths[index % 3]);
    }
}

#[test]
fn a_debian_package_is_an_ar_with_tars() {
    if !has_tool("dpkg-deb") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let command = "echo x >p/file && dpkg-deb -b p out.deb >&2 && cat out.deb";
    std::fs::create_dir_all(root.path().join("p/DEBIAN")).unwrap();
    let control = "Package: p\nVersion: 1\nArchitecture: all\nMaintainer: m\nDescription: d\n";
    std::fs::write(root.path().join("p/DEBIAN/control"), control).unwrap();
    let found = read_intact(ArchiveFormat::Ar, &shell(root.path(), command));
    let paths: Vec<_> = found.iter().map(Found::path).collect();
    assert_eq!(paths[0], "debian-binary");
    assert!(paths[1].starts_with("control.tar") && paths[2].starts_with("data.tar"), "{paths:?}");
}

#[test]
fn the_directory_of_the_root_keeps_a_name() {
    if has_tool("tar") {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("f"), "x").unwrap();
        let found = read_intact(ArchiveFormat::Tar, &shell(root.path(), "tar -cf - ."));
        assert_eq!(found.iter().map(Found::path).collect::<Vec<_>>(), [".", "f"]);
    }
}

#[test]
fn a_zip64_of_info_zip_in_a_pipe_has_no_offset_and_is_read() {
    if !has_zip_for_pipes() {
        return;
    }
    let keeps = Keeps { time_unit: TAR.time_unit, links: false, owners: true };
    compare_command(Names::Short, ArchiveFormat::Zip, keeps, "zip -qry -fz - tree | cat");
}
