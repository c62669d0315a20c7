//! Archives whose headers lie, and unusual ones that are valid.

use std::io::Read;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::super::error::ArchiveError;
use super::super::walker::MemberVisitor;
use super::super::{ArchiveFormat, ArchiveLimits, ArchiveMember, MemberKind, walk, walk_zip};
use super::made::{TAR_END, ZipPart, pax_record, seal, tar_header, tar_member, zip_end, zip_of};
use super::{Found, read_all, read_intact};

fn read_tar(bytes: &[u8]) -> (Vec<Found>, super::ArchiveReport) {
    read_all(ArchiveFormat::Tar, bytes, &ArchiveLimits::default())
}

fn paths(found: &[Found]) -> Vec<String> {
    found.iter().map(Found::path).collect()
}

#[test]
fn a_size_that_is_too_large_cuts_the_archive_off() {
    for size in [b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", b"777777777777"] {
        let first = tar_member(b"first", b'0', b"content");
        let lie = tar_header(b"lie", b'0', 0, |header| header[124..136].copy_from_slice(size));
        let (found, report) = read_tar(&[&first[..], &lie, b"some bytes"].concat());
        assert_eq!(paths(&found), ["first", "lie"]);
        assert!(found[1].error().starts_with("the archive ends"), "{}", found[1].error());
        assert!(matches!(report.error, Some(ArchiveError::CutOff { at: 1546, .. })), "{:?}", report.error);
    }
}

#[test]
fn a_size_that_is_no_number_ends_the_walk() {
    for size in [
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe",
        b"\x80\0\0\0\x80\0\0\0\0\0\0\0",
        b"12345678\0\0\0\0",
    ] {
        let lie = tar_header(b"lie", b'0', 0, |header| header[124..136].copy_from_slice(size));
        let (found, report) = read_tar(&[tar_member(b"first", b'0', b"content"), lie].concat());
        assert_eq!(paths(&found), ["first"]);
        let Some(ArchiveError::Header { at: 1024, reason, .. }) = report.error else {
            panic!("{:?}", report.error)
        };
        assert_eq!(reason, "has a size that is not valid");
    }
}

#[test]
fn the_size_of_pax_overrides_the_size_of_the_header_to_skip_as_well() {
    let hidden = tar_member(b"hidden", b'0', b"");
    let mut archive = tar_member(b"x", b'x', &pax_record("size", &hidden.len().to_string()));
    archive.extend(tar_header(b"visible", b'0', 0, |_| {}));
    archive.extend(&hidden);
    archive.extend(tar_member(b"last", b'0', b"end"));
    archive.extend(TAR_END);
    let found = read_intact(ArchiveFormat::Tar, &archive);
    assert_eq!(paths(&found), ["visible", "last"]);
    assert_eq!(found[0].content.as_ref(), Ok(&hidden));
}

#[test]
fn pax_records_override_the_header_and_malformed_ones_are_counted() {
    let mut records = Vec::new();
    for (key, value) in [
        ("path", "first"),
        ("path", "./long/name"),
        ("uid", "4294967295"),
        ("gid", "4294967296"),
        ("mtime", "-3.000000001"),
        ("uname", "Ångström"),
        ("SCHILY.xattr.user.a", "b"),
    ] {
        records.extend(pax_record(key, value));
    }
    let global = [pax_record("gname", "all"), pax_record("path", "of all")].concat();
    let archive = [
        tar_member(b"g", b'g', &global),
        tar_member(b"x", b'x', &records),
        tar_member(b"short", b'0', b"1"),
        tar_member(b"next", b'0', b"2"),
        tar_member(b"x", b'x', &pax_record("path", "")),
        tar_member(b"third", b'0', b"3"),
        TAR_END.to_vec(),
    ];
    let (found, report) = read_tar(&archive.concat());
    assert_eq!((report.malformed, report.end_mark), (1, true));
    assert_eq!(paths(&found), ["long/name", "of all", "third"]);
    let member = &found[0].member;
    assert_eq!((member.uid, member.gid), (Some(u32::MAX), Some(0o1750)));
    assert_eq!(member.modified, Some(-3_000_000_001));
    assert_eq!(member.owner.as_deref(), Some("Ångström".as_bytes()));
    assert!(found.iter().all(|one| one.member.group.as_deref() == Some(b"all")));
}

#[test]
fn a_link_or_directory_with_a_size_has_content_only_if_no_header_follows() {
    for flag in [b'1', b'2', b'5', b'3'] {
        let lie = tar_header(b"link", flag, 700, |header| header[157..163].copy_from_slice(b"target"));
        let last = [tar_member(b"last", b'0', b"end"), TAR_END.to_vec()].concat();
        for content in [vec![], [vec![b'c'; 700], vec![0; 324]].concat()] {
            let found = read_intact(ArchiveFormat::Tar, &[&lie[..], &content, &last].concat());
            assert_eq!(paths(&found), ["link", "last"]);
            assert_eq!(found[0].content.as_deref(), Ok(&b""[..]));
            assert_eq!(found[0].member.size, 0);
        }
    }
}

#[test]
fn members_of_v7_and_unknown_types_are_files_and_a_final_slash_marks_a_directory() {
    let old = |name: &[u8], flag| {
        let header = tar_header(name, flag, 0, |header| header[257..].fill(0));
        assert_eq!(ArchiveFormat::of(&header), Some(ArchiveFormat::Tar));
        header
    };
    let archive =
        [old(b"directory/", 0), old(b"file", 0), tar_header(b"z", b'z', 0, |_| {}), TAR_END.to_vec()];
    let found = read_intact(ArchiveFormat::Tar, &archive.concat());
    let kinds: Vec<_> = found.iter().map(|one| one.member.kind).collect();
    assert_eq!(kinds, [MemberKind::Directory, MemberKind::File, MemberKind::File]);
    assert_eq!(found[0].path(), "directory");
}

#[test]
fn a_checksum_of_signed_bytes_is_accepted_and_a_wrong_one_ends_the_walk() {
    let mut header = tar_header(b"\xe4\xf6", b'0', 0, |_| {});
    let sum: i32 = header
        .iter()
        .enumerate()
        .map(|(at, &byte)| if (148..156).contains(&at) { 32 } else { i32::from(byte.cast_signed()) })
        .sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    read_intact(ArchiveFormat::Tar, &[&header[..], &TAR_END].concat());
    header[0] = b'x';
    let (found, report) = read_tar(&[tar_member(b"first", b'0', b""), header].concat());
    assert_eq!(found.len(), 1);
    assert_eq!(report.error.unwrap().to_string(), "the tar header at byte 512 has a wrong checksum");
}

#[test]
fn the_prefix_is_used_in_ustar_only() {
    for (magic, path) in [(&b"ustar\x0000"[..], "prefix/name"), (b"ustar  \0", "name")] {
        let archive = tar_header(b"name", b'0', 0, |header| {
            header[257..265].copy_from_slice(magic);
            header[345..351].copy_from_slice(b"prefix");
        });
        assert_eq!(read_intact(ArchiveFormat::Tar, &[&archive[..], &TAR_END].concat())[0].path(), path);
    }
}

#[test]
fn what_follows_the_end_is_left_out_unless_it_is_a_header() {
    let first = [&tar_member(b"first", b'0', b"1")[..], &TAR_END, &TAR_END].concat();
    let second = [&tar_member(b"second", b'0', b"2")[..], &TAR_END].concat();
    assert_eq!(paths(&read_intact(ArchiveFormat::Tar, &[&first[..], &second].concat())), ["first", "second"]);
    for junk in [&b"junk"[..], &[7; 512], &[7; 2000]] {
        assert_eq!(paths(&read_intact(ArchiveFormat::Tar, &[&first[..], junk].concat())), ["first"]);
    }
    let (found, report) = read_tar(&tar_member(b"first", b'0', b"1"));
    assert!(found.len() == 1 && report.error.is_none() && !report.end_mark, "{report:?}");
}

#[test]
fn a_long_name_is_limited_and_must_be_followed_by_a_member() {
    let name = [&b"n".repeat(300)[..], b"\0"].concat();
    let long = tar_member(b"././@LongLink", b'L', &name);
    let archive = [&long[..], &tar_member(b"cut", b'0', b""), &TAR_END].concat();
    assert_eq!(read_intact(ArchiveFormat::Tar, &archive)[0].member.path.len(), 300);
    let limits = ArchiveLimits { name_bytes: 299, ..ArchiveLimits::default() };
    let (_, report) = read_all(ArchiveFormat::Tar, &archive, &limits);
    assert!(matches!(report.error, Some(ArchiveError::Limit { limit: "name_bytes", most: 299 })));
    let (_, report) = read_tar(&[&long[..], &TAR_END].concat());
    assert!(matches!(report.error, Some(ArchiveError::CutOff { .. })), "{report:?}");
}

#[test]
fn a_sparse_map_that_lies_fails_its_member_only() {
    let sparse = |map: &str, real: &str| {
        let records = [pax_record("GNU.sparse.size", real), pax_record("GNU.sparse.map", map)].concat();
        let archive = [
            tar_member(b"x", b'x', &records),
            tar_member(b"sparse", b'0', b"12345"),
            tar_member(b"last", b'0', b"end"),
            TAR_END.to_vec(),
        ];
        let (found, report) = read_tar(&archive.concat());
        assert!(report.error.is_none() && paths(&found) == ["sparse", "last"], "{map}");
        assert_eq!(found[1].content.as_deref(), Ok(&b"end"[..]));
        found[0].content.clone()
    };
    assert_eq!(sparse("1,2,4,3", "8"), Ok(b"\x0012\x00345\0".to_vec()));
    for map in ["1,2,4,4", "4,3,1,2", "1,2,2,3", "1,2,4", "1,2,4,x", "9223372036854775807,5", ""] {
        sparse(map, "8").expect_err(map);
    }
    sparse("0,5", "4").expect_err("the region lies beyond the end");
}

#[test]
fn limits_name_themselves() {
    let hole = [
        tar_member(
            b"x",
            b'x',
            &[pax_record("GNU.sparse.size", "9000000000000"), pax_record("GNU.sparse.map", "0,0")].concat(),
        ),
        tar_member(b"hole", b'0', b""),
        tar_member(b"two", b'0', &[b'x'; 2000]),
        tar_member(b"three", b'0', b""),
        TAR_END.to_vec(),
    ]
    .concat();
    let all = ArchiveLimits::default();
    let read = |limits| {
        let (found, report) = read_all(ArchiveFormat::Tar, &hole, &limits);
        (found, report.error.map(|error| error.to_string()))
    };
    let (found, error) = read(ArchiveLimits { members: 2, member_bytes: 3000, ..all.clone() });
    assert_eq!(
        (found.len(), &*error.unwrap()),
        (2, "the archive exceeds the limit `members` of 2; raise the limit to read more")
    );
    let (found, error) = read(ArchiveLimits { member_bytes: 1999, ..all.clone() });
    assert_eq!((found.len(), error), (3, None));
    assert!(
        found[0].error().contains("`member_bytes` of 1999") && found[1].error().contains("`member_bytes`")
    );
    let (found, error) = read(ArchiveLimits { member_bytes: 2000, ..all.clone() });
    assert_eq!((found.len(), error, found[1].content.as_ref().unwrap().len()), (3, None, 2000));
    let (found, error) = read(ArchiveLimits { bytes: 100_000, ..all.clone() });
    assert!(found.len() == 1 && error.unwrap().contains("`bytes` of 100000"));
    let (_, error) = read(ArchiveLimits { bytes: 2600, member_bytes: 10, ..all });
    assert!(error.unwrap().contains("`bytes` of 2600"), "skipped bytes count");
}

#[test]
fn a_hundred_thousand_empty_members_take_linear_time() {
    let mut header = tar_header(b"name", b'0', 0, |_| {});
    let mut archive = Vec::new();
    for number in 0..100_000 {
        header[..10].copy_from_slice(format!("{number:010}").as_bytes());
        seal(&mut header);
        archive.extend(&header);
    }
    archive.extend(TAR_END);
    let start = Instant::now();
    let found = read_intact(ArchiveFormat::Tar, &archive);
    assert_eq!(found.len(), 100_000);
    assert_eq!(found[99_999].path(), "0000099999");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn entries_that_share_content_meet_the_limit_of_bytes() {
    let part = ZipPart::new(b"kernel", 0, &[b'x'; 10_000], &[b'x'; 10_000]);
    let directory = part.entry(0).repeat(1000);
    let bomb = zip_end(part.local(), &directory, 1000);
    let limits = ArchiveLimits { bytes: 1_000_000, ..ArchiveLimits::default() };
    let (found, report) = read_all(ArchiveFormat::Zip, &bomb, &limits);
    assert_eq!(found.iter().filter(|one| one.content.is_ok()).count(), 100);
    assert!(matches!(report.error, Some(ArchiveError::Limit { limit: "bytes", .. })));
}

#[test]
fn a_deflate_bomb_meets_the_declared_size_and_the_limits() {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::copy(&mut std::io::repeat(0).take(50 << 20), &mut encoder).unwrap();
    let stored = encoder.finish().unwrap();
    let mut lie = zip_of(&[ZipPart::new(b"lie", 8, b"small", &stored), ZipPart::new(b"next", 0, b"n", b"n")]);
    let (found, report) = read_all(ArchiveFormat::Zip, &lie, &ArchiveLimits::default());
    assert!(report.error.is_none());
    assert_eq!(found[0].error(), "the content is longer than its declared size");
    assert_eq!(found[1].content.as_deref(), Ok(&b"n"[..]));
    let directory = lie.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap() - 46 - 3;
    lie[directory + 24..directory + 28].copy_from_slice(&(50_u32 << 20).to_le_bytes());
    let limits = ArchiveLimits { member_bytes: 1 << 20, ..ArchiveLimits::default() };
    let (found, _) = read_all(ArchiveFormat::Zip, &lie, &limits);
    assert!(found[0].error().contains("`member_bytes`"));
}

#[test]
fn a_zip_member_fails_alone() {
    let good = |name: &[u8]| ZipPart::new(name, 0, b"content", b"content");
    let cases = [
        (ZipPart::new(b"bad", 0, b"kontent", b"content"), "the checksum of the content differs"),
        (ZipPart::new(b"bad", 0, b"long content", b"content"), "the content ends 5 bytes before"),
        (ZipPart::new(b"bad", 9, b"x", b"x"), "the compression method 9 is not supported"),
        (ZipPart::new(b"bad", 8, b"x", b"\xff\xff\xff"), "the compressed content is damaged"),
        (ZipPart::new(b"bad", 12, b"x", b"nothing"), "the compressed content is damaged"),
        (ZipPart::new(b"bad", 14, b"x", b"\x09\x04\x05\0\x5d\xff\xff\xff\xffbad data"), "the "),
        (ZipPart::new(b"bad", 14, b"x", b"\x09"), "the header of LZMA is cut off"),
        (ZipPart::new(b"bad", 93, b"x", b"nothing"), "the compressed content is damaged"),
        (ZipPart::new(b"bad", 95, b"x", b"nothing and nothing"), "the compressed content is damaged"),
    ];
    for (bad, reason) in cases {
        let archive = zip_of(&[good(b"a"), bad, good(b"b")]);
        let (found, report) = read_all(ArchiveFormat::Zip, &archive, &ArchiveLimits::default());
        assert!(report.error.is_none());
        assert!(found[1].error().starts_with(reason), "{} / {reason}", found[1].error());
        assert!(found[0].content.is_ok() && found[2].content.is_ok());
    }
}

#[test]
fn equal_names_in_a_zip_stay_apart_and_offsets_may_lie() {
    let part = |content: &[u8]| ZipPart::new(b"name", 0, content, content);
    let archive = zip_of(&[part(b"one"), part(b"two")]);
    let found = read_intact(ArchiveFormat::Zip, &archive);
    assert_eq!(found[0].content.as_deref(), Ok(&b"one"[..]));
    assert_eq!(found[1].content.as_deref(), Ok(&b"two"[..]));
    for offset in [1, 0xffff_fff0] {
        let lie = [part(b"one").entry(offset), part(b"one").entry(0)].concat();
        let archive = zip_end(part(b"one").local(), &lie, 2);
        let (found, report) = read_all(ArchiveFormat::Zip, &archive, &ArchiveLimits::default());
        assert!(report.error.is_none() && found[1].content.is_ok());
        assert!(found[0].error().starts_with("the local header of this member"), "{}", found[0].error());
    }
}

#[test]
fn a_zip_without_a_directory_and_a_zip_in_a_stream_are_refused() {
    for bytes in [&b"PK\x03\x04 and no end"[..], b""] {
        let (_, report) = read_all(ArchiveFormat::Zip, bytes, &ArchiveLimits::default());
        assert!(matches!(report.error, Some(ArchiveError::NoDirectory { .. })));
    }
    let report = walk(ArchiveFormat::Zip, &mut &b""[..], &ArchiveLimits::default(), &mut |_, _| {
        Ok(ControlFlow::Continue(()))
    });
    assert!(matches!(report.error, Some(ArchiveError::NotSeekable)));
    let empty = zip_end(Vec::new(), b"", 0);
    assert!(read_intact(ArchiveFormat::Zip, &empty).is_empty());
}

#[test]
fn a_visitor_may_read_a_part_stop_and_fail() {
    let parts: Vec<_> =
        (0..5_u8).map(|number| ZipPart::new(&[b'a' + number], 0, &[number; 600], &[number; 600])).collect();
    let tar: Vec<u8> =
        (0..5_u8).flat_map(|number| tar_member(&[b'a' + number], b'0', &[number; 600])).collect();
    let zip = zip_of(&parts);
    let limits = ArchiveLimits::default();
    let both = |visit: &mut MemberVisitor<'_>| {
        let of_tar = walk(ArchiveFormat::Tar, &mut &tar[..], &limits, visit);
        [of_tar, walk_zip(&mut std::io::Cursor::new(&zip), &limits, visit)]
    };
    let mut seen = Vec::new();
    let mut visit = |member: &ArchiveMember, reader: &mut (dyn Read + Send)| {
        let mut part = [9; 10];
        reader.read_exact(&mut part)?;
        seen.push((member.path[0], part[9]));
        Ok(ControlFlow::Continue(()))
    };
    for report in both(&mut visit) {
        assert_eq!((report.members, report.bytes, report.stopped), (5, 50, false));
        assert!(report.error.is_none());
    }
    assert_eq!(seen, (0..5).chain(0..5).map(|number| (b'a' + number, number)).collect::<Vec<_>>());
    let mut count = 0;
    for report in both(&mut |_, _| {
        count += 1;
        Ok(if count % 2 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }) {
        assert_eq!((report.members, report.stopped), (2, true));
    }
    for report in both(&mut |_, _| Err(std::io::Error::other("no space"))) {
        assert_eq!(report.members, 1);
        assert_eq!(report.error.unwrap().to_string(), "no space");
    }
}

#[test]
fn a_cpio_checksum_that_differs_fails_its_member() {
    if !super::has_tool("cpio") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let command = "printf abc >a; printf def >b; printf 'a\\nb\\n' | cpio --quiet -o -H crc";
    let mut archive = super::shell(root.path(), command);
    let at = archive.windows(3).position(|bytes| bytes == b"abc").unwrap();
    archive[at] = b'x';
    let (found, report) = read_all(ArchiveFormat::Cpio, &archive, &ArchiveLimits::default());
    assert!(report.error.is_none());
    assert_eq!(found[0].error(), "the checksum of the content differs from the header's");
    assert_eq!(found[1].content.as_deref(), Ok(&b"def"[..]));
}

#[test]
fn cpio_archives_may_follow_each_other_with_zeros_between() {
    if !super::has_tool("cpio") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    for format in ["newc", "odc", "bin"] {
        let command = format!("printf abc >a; printf 'a\\n' | cpio --quiet -o -H {format}");
        let archive = super::shell(root.path(), &command);
        let several = [&archive[..], &[0; 512], &archive, &archive].concat();
        assert_eq!(paths(&read_intact(ArchiveFormat::Cpio, &several)), ["a"; 3], "{format}");
        let other = [&archive[..], b"\x1f\x8b something else"].concat();
        assert_eq!(paths(&read_intact(ArchiveFormat::Cpio, &other)), ["a"]);
    }
}

#[test]
fn symbol_tables_of_ar_are_left_out_and_bad_names_kept() {
    let member = |name: &str, size: &str, content: &[u8]| {
        let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 7, 1, 2, 644);
        [header.as_bytes(), content, if content.len() % 2 == 1 { b"\n" } else { b"" }].concat()
    };
    let archive = [
        b"!<arch>\n".to_vec(),
        member("/", "3", b"sym"),
        member("/SYM64/", "2", b"sy"),
        member("__.SYMDEF SORTED", "1", b"s"),
        member("#1/12", "15", b"__.SYMDEF\0\0\0sym"),
        member("//", "11", b"long name/\n"),
        member("/0", "1", b"a"),
        member("/99", "1", b"b"),
        member("#1/4", "5", b"bsd\0c"),
    ]
    .concat();
    let (found, report) = read_all(ArchiveFormat::Ar, &archive, &ArchiveLimits::default());
    assert!(report.error.is_none() && report.end_mark && report.malformed == 1, "{report:?}");
    assert_eq!(paths(&found), ["long name", "/99", "bsd"]);
    assert_eq!(found[2].content.as_deref(), Ok(&b"c"[..]));
    assert_eq!((found[0].member.uid, found[0].member.gid), (Some(1), Some(2)));
    for (size, reason) in [("x", "size"), ("3", "length")] {
        let archive = [b"!<arch>\n".to_vec(), member("#1/4", size, b"abc")].concat();
        let (_, report) = read_all(ArchiveFormat::Ar, &archive, &ArchiveLimits::default());
        assert!(report.error.unwrap().to_string().contains(reason));
    }
}
