//! scratch
use scanns::*;
use std::sync::{Arc, atomic::AtomicBool};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let out = std::path::PathBuf::from("/tmp/w/idx");
    let threads: usize = a[3].parse().unwrap();
    let mem: u64 = a.get(4).map(|x| x.parse().unwrap()).unwrap_or(8192) << 20;
    let reps: usize = a.get(5).map(|x| x.parse().unwrap()).unwrap_or(3);
    let an = a.get(6).map(|s| s.as_str()).unwrap_or("paths");
    for _ in 0..reps {
        let _ = std::fs::remove_dir_all(&out);
        let o = IndexOptions {
            source: SourceOptions { paths: vec![a[1].clone().into()], threads, ..Default::default() },
            read: ReadOptions { lanes: threads, ..Default::default() },
            records: Records::parse(&a[2]).unwrap(),
            analyzer: Some(Analyzer::parse(an).unwrap()),
            memory: mem,
        };
        let r = build(&out, &o, &Progress::new(), &Arc::new(AtomicBool::new(false))).unwrap();
        println!(
            "docs {} tokens {} {:.2}s {:.0} MiB/s index {} MiB segs {} rss {} MiB failed {}",
            r.documents,
            r.tokens,
            r.seconds,
            r.bytes as f64 / 1048576.0 / r.seconds,
            r.index_bytes >> 20,
            r.segments,
            r.peak_rss >> 20,
            r.failed.len()
        );
    }
    let s = Snapshot::open(&out).unwrap();
    let t = std::time::Instant::now();
    println!("unique {} in {:.2}s", s.unique_terms().unwrap(), t.elapsed().as_secs_f64());
}
