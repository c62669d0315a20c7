//! Each format of rows is detected as itself only.

use std::fmt::Write;

use super::formats::detected;

/// Makes a dump of `rows` rows of a format, with the paths of a tree of directories.
fn dump(format: &str, rows: u64) -> Vec<u8> {
    let mut dump = String::new();
    if format == "hdfs" {
        dump += "Path\tReplication\tModificationTime\tAccessTime\tPreferredBlockSize\tBlocksCount\t\
            FileSize\tNSQUOTA\tDSQUOTA\tPermission\tUserName\tGroupName\n";
    }
    for row in 0..rows {
        let (kind, bits) = if row % 20 == 0 { ("d", 0o40_755) } else { ("f", 0o100_644) };
        let letter = kind.replace('f', "-");
        let path =
            format!("/projects/p{:03}/user{:02}/run-{:05}/output.{row:09}.h5", row % 300, row % 37, row / 40);
        let (length, size, time) = (path.len(), row * 7919 % 100_000_007, 1_700_000_000 + row % 50_000_000);
        let (inode, uid) = (144_115_205_255_725_056 + row, 1000 + row % 37);
        let numbers = format!("{inode}|{bits}|1|{uid}|100|{size}|4096|{}|{time}|{time}|{time}", size / 512);
        match format {
            "gufi" => writeln!(
                dump,
                "{length:04x}{path}|{kind}|{numbers}|0000|001a0001user.k\x1fvalue-12345678\x1f|{time}|\
                0|0|0|0|0000|0000|7|"
            ),
            "gufi-old" => writeln!(dump, "{path}|{kind}|{numbers}||user.k\x1fvalue\x1f|{time}|0|0|0|0|||7|"),
            "policy" => {
                writeln!(dump, "{inode} 1910420955 0  {uid}:100:{letter}rwxr-xr-x:{size} -- {path}")
            }
            "policy-escaped" => {
                let path = path.replace('/', "%2F");
                writeln!(dump, "{inode} 1910420955 0  {uid}%3A100%3A{bits:o}%3A{size} -- {path}")
            }
            "policy-records" => writeln!(
                dump,
                "0:bff0000000000000:{inode:x}:71df4f5b:{size:x}:0:0:40000:{length}!{path}:\
                6!system;10!1000:100:7"
            ),
            "pwalk" => writeln!(
                dump,
                "{inode},8,4,\"{path}\",\"h5\",{uid},100,{size},66,{},1,\"{bits:07o}\",\
                {time},{time},{time},-1,0",
                size / 512
            ),
            "lester" => writeln!(
                dump,
                "{time}|{time}|{time}|{uid}|100|{bits:o}|{size}|{}|12:1a2b3c,13:1a2b3d|\
                0x200000401:0x1a:0x0|{path}",
                row + 12
            ),
            "dwalk-lite" => writeln!(dump, "{path}|{}", kind.to_uppercase()),
            "hdfs" => writeln!(
                dump,
                "{path}\t3\t2026-11-23 10:11\t2026-11-22 09:10\t134217728\t1\t{size}\t0\t0\t\
                {letter}rwxr-xr-x\tuser{uid}\tgrp"
            ),
            _ => writeln!(dump, "{path}"),
        }
        .unwrap();
    }
    if format.starts_with("gufi") {
        return dump.into_bytes().into_iter().map(|byte| if byte == b'|' { 0x1e } else { byte }).collect();
    }
    dump.into_bytes()
}

const FORMATS: [&str; 8] =
    ["gufi", "gufi-old", "policy", "policy-records", "pwalk", "lester", "dwalk-lite", "hdfs"];

#[test]
fn each_format_is_detected_as_itself_only() {
    for format in FORMATS {
        for rows in [2, 3, 40, 2000] {
            assert_eq!(detected(&dump(format, rows)[..]), [format], "{rows}");
        }
    }
    assert_eq!(detected(&dump("policy-escaped", 9)), ["policy-escaped"]);
    assert_eq!(detected(b"#IDENT#|0.8|1.42.7|1398271300|Wed Apr 23|mds1|/dev/md0|0|0|0|0|x|\n"), ["lester"]);
}

#[test]
fn other_texts_are_detected_as_none_of_the_formats() {
    let samples: [&[u8]; 19] = [
        b"",
        b"\n",
        b"\n\n\n",
        b"/a\n/b\n/c|d\n",
        b"/a|F\n",
        b"/a|F\n/b\n",
        b"/a\0/b\0",
        b"./a\n./b -- /c\n",
        b"1 2 3\n4 5 6\n",
        b"1 2 3 x - /a\n",
        b"path,size\n/a,1\n/b,2\n",
        b"1,2,3,\"/a\",\"\",1,2,3,4,5,6,\"x\",7,8,9,10,11\n",
        b"1|2|3|4|5|6|7|8|/a\n",
        b"1|2|3|4|5|100644|7|8|a\n",
        b"Path\tReplication\tSize\n/a\t3\t7\n",
        b"{\"path\":\"/a\",\"size\":1}\n{\"path\":\"/b\",\"size\":2}\n",
        b"0001a\x1ed\x1e1\x1e2\n",
        b"0:0:1:0:0:0:0:0:3!/a:0!\n",
        b"0004/a/b",
    ];
    for sample in samples {
        assert_eq!(detected(sample), [""; 0], "{}", sample.escape_ascii());
    }
    assert_eq!(detected(&dump("paths", 3000)), [""; 0]);
}
