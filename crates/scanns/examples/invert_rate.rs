//! scratch
use scanns::*;
use std::time::Instant;
struct Null(u64);
impl TokenSink for Null {
    fn tokens(&mut self, _: &[u8], _: usize, b: &[u16]) {
        self.0 += b.len() as u64 / 2
    }
    fn token(&mut self, _: &[u8]) {
        self.0 += 1
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let lines = a[2] == "line";
    let expected: usize = a.get(3).map(|x| x.parse().unwrap()).unwrap_or(0);
    let an = if a.get(4).map(|s| s == "std").unwrap_or(false) {
        Analyzer::Standard
    } else {
        Analyzer::parse("paths").unwrap()
    };
    let mut files = vec![];
    let mut st = vec![std::path::PathBuf::from(&a[1])];
    while let Some(p) = st.pop() {
        for e in std::fs::read_dir(p).unwrap() {
            let e = e.unwrap();
            let t = e.file_type().unwrap();
            if t.is_dir() {
                st.push(e.path())
            } else if t.is_file() {
                files.push(std::fs::read(e.path()).unwrap())
            }
        }
    }
    let bytes: usize = files.iter().map(|f| f.len()).sum();
    let mib = bytes as f64 / 1048576.0;
    let mut t = Tokenizer::new(&an);
    let s = Instant::now();
    let mut n = Null(0);
    for f in &mut files {
        let r = 0..f.len();
        t.run(f, r, &mut n);
    }
    println!("tokenize {:.0} MiB/s tokens {}", mib / s.elapsed().as_secs_f64(), n.0);
    let mut inv =
        Inverter::new(&InvertOptions { budget: 4 << 30, expected_terms: expected, pages: PageSize::Huge })
            .unwrap();
    let mut best = 0f64;
    for rep in 0..6 {
        let s = Instant::now();
        for f in &mut files {
            if lines {
                let mut b = 0;
                while b < f.len() {
                    let e = f[b..].iter().position(|c| *c == b'\n').map_or(f.len(), |p| b + p + 1);
                    t.run(f, b..e, &mut inv);
                    inv.end_document();
                    b = e;
                }
            } else {
                let r = 0..f.len();
                t.run(f, r, &mut inv);
                inv.end_document();
            }
        }
        inv.settle();
        let el = s.elapsed().as_secs_f64();
        let terms = inv.terms();
        let mem = inv.bytes();
        let s = Instant::now();
        let mut p = 0u64;
        let mut tf = 0u64;
        inv.drain_sorted(|_, it| {
            for (_, f) in it {
                p += 1;
                tf += f as u64;
            }
            Ok(())
        })
        .unwrap();
        let dr = s.elapsed().as_secs_f64();
        println!(
            "rep {rep} tf {:.0} MiB/s ({el:.2}s) terms {terms} postings {p} tf {tf} mem {} MiB drain {dr:.2}s",
            mib / el,
            mem >> 20
        );
    }
}
