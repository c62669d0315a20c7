//! The disk is full after any number of pages: a step is done completely or not at all.

use scanns::Error;
use scanns::store::FaultDirectory;

use crate::model::{Script, no_file_is_left_over};
use crate::seeds;

const PAGE: u64 = 4096;

/// More pages than any step of these scripts needs.
const MOST_PAGES: u64 = 2000;

#[test]
fn on_a_full_disk_a_step_is_done_whole_or_not_at_all() {
    let (mut refused, mut done) = (0, 0);
    let range = seeds(3, 300);
    println!("seeds {range:?}");
    for seed in range {
        let script = Script::random(seed, 9);
        let before = FaultDirectory::new();
        for step in 0..script.steps.len() {
            let base = FaultDirectory::with_files(&before).unwrap();
            script.run(&before, step).unwrap();
            for pages in 0..MOST_PAGES {
                let directory = FaultDirectory::with_files(&base).unwrap();
                directory.limit_space(Some(directory.used_space() + pages * PAGE));
                let what = format!("seed {seed} step {step} {:?}, {pages} free pages", script.steps[step]);
                let outcome = script.run(&directory, step);
                directory.limit_space(None);
                no_file_is_left_over(&directory, &what);
                let Err(error) = outcome else {
                    script.check(&directory, &[step + 1], &what);
                    done += 1;
                    break;
                };
                refused += 1;
                let is_full = matches!(&error, Error::Io { source, .. }
                    if source.kind() == std::io::ErrorKind::StorageFull);
                assert!(is_full, "{what}: {error:?}");
                let allowed = if script.commits_often { vec![step, step + 1] } else { vec![step] };
                script.check(&directory, &allowed, &what);
                if pages % 5 == 0 {
                    script.run(&directory, step).unwrap_or_else(|error| panic!("{what}, then: {error}"));
                    script.check(&directory, &[step + 1], &what);
                }
                assert!(pages + 1 < MOST_PAGES, "{what}: {error}");
            }
        }
    }
    println!("{refused} steps refused, {done} done, 0 wrong");
}
