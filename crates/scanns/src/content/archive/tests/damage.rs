//! Damaged archives: cut off at every byte, and changed at random.

use std::io::Write;
use std::time::{Duration, Instant};

use super::super::{ArchiveFormat, ArchiveLimits};
use super::made::{TAR_END, ZipPart, pax_record, tar_header, tar_member, zip_of};
use super::tree::{self, Names};
use super::{Found, has_tool, has_zip_for_pipes, random, read_all, shell};

/// Small archives of all formats.
fn small_archives() -> Vec<(ArchiveFormat, Vec<u8>)> {
    let records = [pax_record("path", "p".repeat(120).as_str()), pax_record("mtime", "1.5")].concat();
    let sparse = [pax_record("GNU.sparse.size", "900"), pax_record("GNU.sparse.map", "1,2,400,3")].concat();
    let tar = [
        tar_member(b"././@LongLink", b'L', &[&[b'n'; 130][..], b"\0"].concat()),
        tar_member(b"short", b'0', b"first content"),
        tar_member(b"x", b'x', &records),
        tar_member(b"second", b'0', &[b's'; 600]),
        tar_member(b"x", b'x', &sparse),
        tar_member(b"sparse", b'0', b"12345"),
        tar_header(b"old sparse", b'S', 5, |header| {
            header[257..265].copy_from_slice(b"ustar  \0");
            header[386..410].copy_from_slice(b"00000000000\x0000000000005\0");
            header[483..495].copy_from_slice(b"00000001000\0");
        }),
        [&b"12345"[..], &[0; 507]].concat(),
        tar_header(b"link", b'2', 0, |header| header[157..163].copy_from_slice(b"target")),
        TAR_END.to_vec(),
    ]
    .concat();
    let deflate = |content: &[u8]| {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    };
    let text = b"some text, some text, some text".repeat(9);
    let zip = zip_of(&[
        ZipPart::new(b"stored", 0, b"content", b"content"),
        ZipPart::new(b"deflate", 8, &text, &deflate(&text)),
        ZipPart::new(b"zstd", 93, &text, &zstd::encode_all(&text[..], 3).unwrap()),
    ]);
    let mut archives = vec![(ArchiveFormat::Tar, tar), (ArchiveFormat::Zip, zip)];
    let root = tempfile::tempdir().unwrap();
    shell(root.path(), "printf abc >a; printf 'longer content' >'a long name of a file'; ln -s a link");
    for (tool, format, command) in [
        ("cpio", ArchiveFormat::Cpio, "ls -d a* l* | cpio --quiet -o -H newc | head -c 600"),
        ("cpio", ArchiveFormat::Cpio, "ls -d a* l* | cpio --quiet -o -H crc | head -c 600"),
        ("cpio", ArchiveFormat::Cpio, "ls -d a* l* | cpio --quiet -o -H odc | head -c 500"),
        ("cpio", ArchiveFormat::Cpio, "ls -d a* l* | cpio --quiet -o -H bin | head -c 300"),
        ("ar", ArchiveFormat::Ar, "ar rcU out.a a* && cat out.a"),
        ("bsdtar", ArchiveFormat::Ar, "bsdtar --format=arbsd -b 1 -cf - a*"),
        ("zip", ArchiveFormat::Zip, "zip -qry -fz - a* l* | cat"),
    ] {
        if has_tool(tool) && (tool != "zip" || has_zip_for_pipes()) {
            archives.push((format, shell(root.path(), command)));
        }
    }
    archives
}

fn limits() -> ArchiveLimits {
    ArchiveLimits { members: 1000, bytes: 1 << 20, ..ArchiveLimits::default() }
}

/// Whether a member is as it was before the damage, or its content failed.
fn agrees(one: &Found, before: &Found) -> bool {
    one == before || one.content.is_err()
}

#[test]
fn an_archive_cut_off_anywhere_gives_the_members_before_the_cut() {
    for (format, archive) in small_archives() {
        let (whole, report) = read_all(format, &archive, &limits());
        assert!(report.error.is_none(), "{report:?}");
        let mut seen = 0;
        for cut in 0..archive.len() {
            let (found, report) = read_all(format, &archive[..cut], &limits());
            if format == ArchiveFormat::Zip {
                assert!(found.is_empty() && report.error.is_some(), "{format:?} {cut}");
                continue;
            }
            assert!(found.len() <= whole.len() && found.len() >= seen, "{format:?} {cut}");
            seen = found.len();
            for (one, before) in found.iter().zip(&whole) {
                assert!(agrees(one, before), "{format:?} {cut}: {one:?}");
            }
            let complete = found.len() == whole.len() && found.iter().all(|one| one.content.is_ok());
            // An ar has no end mark, so a cut between two members goes unnoticed.
            let unmarked = format == ArchiveFormat::Ar && found.iter().all(|one| one.content.is_ok());
            assert!(
                complete || unmarked || report.error.is_some() || !report.end_mark,
                "{format:?} {cut}: {report:?}"
            );
        }
        assert!(format == ArchiveFormat::Zip || seen == whole.len());
    }
}

#[test]
fn changed_archives_never_panic_and_never_take_long() {
    let archives = small_archives();
    let mut random = random("changed archives");
    let rounds = if cfg!(miri) { 10 } else { 100_000 };
    for round in 0..rounds {
        let (format, archive) = &archives[round % archives.len()];
        let mut changed = archive.clone();
        for _ in 0..random.usize(1..6) {
            change(&mut changed, &mut random);
        }
        if *format == ArchiveFormat::Tar && random.bool() {
            seal_all(&mut changed);
        }
        let start = Instant::now();
        let (found, report) = read_all(*format, &changed, &limits());
        assert!(start.elapsed() < Duration::from_secs(5), "{format:?} round {round}: {report:?}");
        let bytes: usize = found.iter().flat_map(|one| &one.content).map(Vec::len).sum();
        assert!(bytes as u64 <= report.bytes && report.bytes <= 1 << 20);
        ArchiveFormat::of(&changed);
    }
}

/// Changes, adds, removes or repeats some bytes.
fn change(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = random.usize(0..bytes.len());
    match random.u8(0..8) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.u8(..)),
        2 => {
            bytes.remove(at);
        }
        3 => {
            let end = (at + random.usize(0..600)).min(bytes.len());
            bytes.extend_from_within(at..end);
        }
        4 => {
            let end = (at + random.usize(0..12)).min(bytes.len());
            bytes[at..end].fill(*random.choice(&[0, 0xff, b'7', b'9', b' ']).unwrap());
        }
        5 => bytes[at] = *random.choice(b"0123456789SLKxg15 /\0\x80\xff").unwrap(),
        6 => bytes[at] ^= 1 << random.u8(0..8),
        _ => bytes[at] = random.u8(..),
    }
}

/// Sets the checksums of all blocks that look like headers, so that changed headers are believed.
fn seal_all(archive: &mut [u8]) {
    for block in archive.chunks_exact_mut(512).filter(|block| block.get(257..262) == Some(b"ustar")) {
        super::made::seal(block);
    }
}

#[test]
fn memory_does_not_follow_what_the_headers_claim() {
    // Each claims 4 GiB or more of names, records or maps, and has none of them.
    let huge = |header: &mut [u8]| header[124..136].copy_from_slice(b"\x80\0\0\0\0\0\0\xff\0\0\0\0");
    for flag in [b'x', b'g', b'L', b'K', b'S', b'0'] {
        let (_, report) = read_all(ArchiveFormat::Tar, &tar_header(b"lie", flag, 0, huge), &limits());
        assert!(report.error.is_some());
    }
    let header = format!("{:<16}{:<32}{:<10}`\n", "//", "0", "9999999999");
    let (_, report) = read_all(ArchiveFormat::Ar, &[b"!<arch>\n", header.as_bytes()].concat(), &limits());
    assert!(report.error.is_some());
}

#[test]
fn a_random_tree_changed_at_one_byte_loses_at_most_the_rest() {
    if !has_tool("tar") {
        return;
    }
    let mut random = random("one byte");
    let root = tempfile::tempdir().unwrap();
    tree::make(root.path(), Names::Any, &mut random);
    let archive = shell(root.path(), "tar --format=gnu -cf - tree");
    let (whole, _) = read_all(ArchiveFormat::Tar, &archive, &ArchiveLimits::default());
    for _ in 0..50 {
        let at = random.usize(0..archive.len());
        let mut changed = archive.clone();
        changed[at] ^= 0x10;
        let (found, _) = read_all(ArchiveFormat::Tar, &changed, &ArchiveLimits::default());
        let before = whole.iter().filter(|one| one.member.offset + one.member.size < at as u64).count();
        assert!(found.len() >= before.saturating_sub(1));
        assert_eq!(found[..before.saturating_sub(1)], whole[..before.saturating_sub(1)]);
    }
}
