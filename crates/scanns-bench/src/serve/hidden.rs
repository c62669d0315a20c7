//! Whether the time of an answer tells a user that a word is in documents that he may not see.
//!
//! A directory has files for all and files of root alone. Each of the latter has a word of its own. A user
//! asks for such words and for words that no file has, in turns at random. A classifier that calls the slower
//! answers hidden words is right as often as the area under its curve (AUC) says: 0.5 is guessing, 1 is
//! certainty.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};
use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::median;

use super::client::{Client, Served};

/// The size of the experiment.
#[derive(Debug, clap::Args)]
pub struct HiddenArgs {
    /// The released command
    #[arg(long, default_value = "target/release/scanns")]
    pub program: PathBuf,
    /// Words that are asked for
    #[arg(long, default_value_t = 10_000)]
    pub trials: usize,
    /// How often each word is asked for, of which the fastest answer counts
    #[arg(long, default_value_t = 1)]
    pub tries: usize,
    /// Ask for each word beside one that many files have, so that no spelling is suggested
    #[arg(long)]
    pub beside: bool,
    /// Files that all may read
    #[arg(long, default_value_t = 20_000)]
    pub files: usize,
    /// The user who asks, a number
    #[arg(long, default_value_t = 65_533)]
    pub user: u32,
    /// The seed of words and turns
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
}

/// A word of letters.
fn word(random: &mut fastrand::Rng) -> String {
    (0..12).map(|_| random.lowercase()).collect()
}

/// A word of about half of the files.
const COMMON: &str = "experiment";

/// Writes the files. Returns words of hidden ones.
fn write_files(place: &Path, args: &HiddenArgs, random: &mut fastrand::Rng) -> Result<Vec<String>> {
    let common: Vec<String> = (0..5_000).map(|_| word(random)).collect();
    let mut hidden = Vec::new();
    for number in 0..args.files + args.trials / 2 {
        let directory = place.join(format!("{}", number % 100));
        std::fs::create_dir_all(&directory)?;
        let mut text: Vec<&str> =
            (0..30).filter_map(|_| common.get(random.usize(..common.len())).map(String::as_str)).collect();
        let is_hidden = number >= args.files;
        let own = word(random);
        text.push(&own);
        if random.bool() {
            text.push(COMMON);
        }
        let path = directory.join(format!("{number}.txt"));
        std::fs::write(&path, text.join(" "))?;
        std::fs::set_permissions(&path, Permissions::from_mode(if is_hidden { 0o600 } else { 0o644 }))?;
        if is_hidden {
            hidden.push(own);
        }
    }
    Ok(hidden)
}

/// The share of pairs of a hidden and an absent word in which the hidden one took longer; equal times are
/// half.
#[expect(clippy::cast_precision_loss, reason = "counts of trials")]
fn area_under_curve(hidden: &[f64], absent: &[f64]) -> f64 {
    let mut absent = absent.to_vec();
    absent.sort_by(f64::total_cmp);
    let above = |time: &f64| {
        let less = absent.partition_point(|other| other < time);
        let equal = absent.partition_point(|other| other <= time) - less;
        less as f64 + equal as f64 / 2.0
    };
    hidden.iter().map(above).sum::<f64>() / (hidden.len() as f64 * absent.len() as f64)
}

/// The times of hidden and absent words, in µs, as the user.
fn ask(socket: &Path, hidden: &[String], args: &HiddenArgs) -> Result<[Vec<f64>; 2]> {
    let mut random = fastrand::Rng::with_seed(args.seed ^ 1);
    let mut trials: Vec<(bool, String)> = hidden.iter().map(|word| (true, word.clone())).collect();
    trials.extend((0..hidden.len()).map(|_| (false, word(&mut random))));
    random.shuffle(&mut trials);
    // The identity of this thread alone.
    let (user, group) = (Uid::from_raw(args.user), Gid::from_raw(args.user));
    set_thread_groups(&[group])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    let mut client = Client::connect(socket)?;
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..2 {
        for (is_hidden, word) in trials.iter().take(if round == 0 { 500 } else { usize::MAX }) {
            let beside = if args.beside { COMMON } else { "" };
            let target = format!("/api/v1/hidden/search?q={word}%20{beside}");
            let mut least = f64::INFINITY;
            for _ in 0..args.tries.max(1) {
                let answer = client.get(&target)?;
                ensure!(
                    answer.status == 200,
                    "status {}: {}",
                    answer.status,
                    String::from_utf8_lossy(&client.text)
                );
                least = least.min(answer.time.as_secs_f64() * 1e6);
            }
            let found = String::from_utf8_lossy(&client.text);
            ensure!(args.beside || found.contains("\"count\":0"), "{word} was found: {found}");
            // The first round warms up.
            if round > 0 {
                times[usize::from(!is_hidden)].push(least);
            }
        }
    }
    Ok(times)
}

/// Measures what times tell.
pub(crate) fn run(args: &HiddenArgs, results: &mut Results) -> Result<()> {
    ensure!(geteuid().is_root(), "only root can ask as another user: run it with sudo");
    let place = tempfile::tempdir()?;
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o755))?;
    let (files, index) = (place.path().join("files"), place.path().join("hidden.scanns"));
    std::fs::create_dir(&files)?;
    let hidden = write_files(&files, args, &mut fastrand::Rng::with_seed(args.seed))?;
    let built =
        Command::new(&args.program).args(["index", "-q", "--access", "-o"]).arg(&index).arg(&files).status();
    let built = built.with_context(|| format!("cannot start {}", args.program.display()))?;
    ensure!(built.success(), "the index could not be built");
    let served = Served::start(&args.program, &index, place.path(), &["--shared"])?;
    let asked = std::thread::scope(|scope| scope.spawn(|| ask(&served.socket, &hidden, args)).join());
    let [hidden, absent] = asked.map_err(|_| anyhow!("a thread failed"))??;
    let area = area_under_curve(&hidden, &absent);
    println!(
        "{} trials of {} tries: a hidden word {:.1} µs, an absent one {:.1} µs at p50; AUC {:.3}",
        hidden.len() + absent.len(),
        args.tries.max(1),
        median(&hidden),
        median(&absent),
        area.max(1.0 - area)
    );
    let metric = ("time of a word that is not shown", "µs", Better::Lower);
    results.add(Series::of("serve", "hidden words", "hidden", metric, hidden), Some(&absent));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::area_under_curve;

    #[test]
    fn the_area_is_the_share_of_pairs() {
        assert!((area_under_curve(&[2.0, 3.0], &[1.0, 1.5]) - 1.0).abs() < 1e-9);
        assert!((area_under_curve(&[1.0, 2.0], &[1.0, 2.0]) - 0.5).abs() < 1e-9);
        let random = &mut fastrand::Rng::with_seed(3);
        let [one, other]: [Vec<f64>; 2] =
            [(); 2].map(|()| (0..60).map(|_| f64::from(random.u8(..9))).collect());
        let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
        let slow: f64 = pairs
            .map(|(a, b)| {
                if a > b {
                    1.0
                } else if a < b {
                    0.0
                } else {
                    0.5
                }
            })
            .sum();
        assert!((area_under_curve(&one, &other) - slow / 3600.0).abs() < 1e-9);
    }
}
