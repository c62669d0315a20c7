//! Prepares the adapters: finds a JDK, fetches Lucene with Maven, and compiles.
//!
//! If something is missing, the error says in one sentence what to install, and the driver continues without
//! that engine.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// The oldest JDK that Lucene runs on.
const OLDEST_JDK: u32 = 21;

/// The advice if no JDK was found.
const GET_JDK: &str = "install openjdk-21-jdk-headless and maven (Debian 13, Ubuntu 24.04 or newer), or a \
    JDK from https://adoptium.net, and set JAVA_HOME to it if it is not found";

/// The directory of this crate, which contains the sources of the adapters.
const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Parses the major version from the output of `javac -version`, such as `javac 21.0.3`.
fn major_version(printed: &str) -> Option<u32> {
    let version = printed.split_whitespace().last()?;
    version.split(['.', '-', '+']).next()?.parse().ok()
}

/// The version of the JDK in `home`, if there is one.
fn jdk_version(home: &Path) -> Option<u32> {
    let output = Command::new(home.join("bin/javac")).arg("-version").output().ok()?;
    // Old versions print to standard error.
    let printed = [output.stdout, output.stderr].concat();
    major_version(&String::from_utf8_lossy(&printed))
}

/// Chooses the newest JDK among `homes`.
///
/// # Errors
/// If none is new enough for Lucene. The message says what was found and what to do.
fn newest_jdk(homes: impl IntoIterator<Item = (PathBuf, Option<u32>)>) -> Result<PathBuf> {
    let found: Vec<_> = homes.into_iter().filter_map(|(home, version)| Some((version?, home))).collect();
    match found.iter().max() {
        Some((version, home)) if *version >= OLDEST_JDK => Ok(home.clone()),
        Some((version, home)) => bail!(
            "Lucene needs JDK {OLDEST_JDK} or newer, but the newest that was found is {version} at {}: \
             {GET_JDK}",
            home.display()
        ),
        None => bail!("Lucene needs JDK {OLDEST_JDK} or newer, but none was found: {GET_JDK}"),
    }
}

/// Finds the JDK to use: `JAVA_HOME` if it is new enough, else the newest on the path or below
/// `/usr/lib/jvm`.
fn find_jdk() -> Result<PathBuf> {
    let versioned = |home: PathBuf| {
        let version = jdk_version(&home);
        (home, version)
    };
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        let given = newest_jdk([versioned(home.into())]);
        if given.is_ok() {
            return given;
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path)
        .filter_map(|folder| folder.join("javac").canonicalize().ok())
        .filter_map(|javac| Some(javac.parent()?.parent()?.to_path_buf()));
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    newest_jdk(on_path.chain(installed).map(versioned))
}

/// Runs a tool and waits for its end. `what` is its purpose, for messages.
fn run(command: &mut Command, what: &str, log: &Path, remedy: &str) -> Result<()> {
    let out = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out).status();
    let status = status.with_context(|| format!("cannot {what}: cannot start {program}: {remedy}"))?;
    ensure!(status.success(), "cannot {what}: {program} failed, see {}: {remedy}", log.display());
    Ok(())
}

/// The version of a library in a `pom.xml`.
fn library_version(pom: &str, library: &str) -> Result<String> {
    let (begin, end) = (format!("<{library}.version>"), format!("</{library}.version>"));
    let version = pom.split_once(&begin).and_then(|(_, rest)| rest.split_once(&end));
    Ok(version.with_context(|| format!("pom.xml has no {library}.version"))?.0.to_string())
}

/// The version of a crate in a lock file.
fn locked_version(lock: &str, name: &str) -> Result<String> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = lock.lines().skip_while(|line| *line != wanted).skip(1);
    let version = lines.next().and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    Ok(version.with_context(|| format!("Cargo.lock has no version of {name}"))?.to_string())
}

/// An adapter that is ready to run.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The version of the engine.
    pub version: String,
    /// Program and first arguments.
    pub command: Vec<String>,
}

fn text(path: &Path) -> Result<String> {
    Ok(path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))?.to_string())
}

/// Fetches Lucene into `work` and compiles the adapter there. Its virtual machine will have a heap of
/// `heap_mib` MiB.
///
/// # Errors
/// If the JDK, Maven or the network are missing. The message says what to do.
pub fn lucene(work: &Path, heap_mib: u64) -> Result<Ready> {
    let jdk = find_jdk()?;
    let sources = Path::new(HERE).join("java");
    let pom = sources.join("pom.xml");
    let text_of_pom = fs::read_to_string(&pom)?;
    let version = library_version(&text_of_pom, "lucene")?;
    let last = format!("lucene-highlighter-{version}.jar");
    let jars = work.join(format!("lucene-{version}"));
    let classes = work.join("classes");
    fs::create_dir_all(&classes).with_context(|| format!("cannot create {}", classes.display()))?;
    // This dependency was added last, so if it is present, the others are too.
    if !jars.join(last).exists() {
        let mut fetch = Command::new("mvn");
        fetch.env("JAVA_HOME", &jdk).arg("-q").arg("-B").arg("-f").arg(&pom);
        fetch.arg("dependency:copy-dependencies");
        fetch.arg(format!("-DoutputDirectory={}", text(&std::path::absolute(&jars)?)?));
        let remedy = "install maven, and check that Maven Central can be reached";
        run(&mut fetch, &format!("fetch Lucene {version}"), &work.join("maven.log"), remedy)?;
    }
    let jars = format!("{}/*", text(&jars)?);
    let mut compile = Command::new(jdk.join("bin/javac"));
    compile.args(["-Xlint:all", "-Werror", "-d"]).arg(&classes).args(["-cp", &jars]);
    let mut files: Vec<PathBuf> =
        fs::read_dir(sources.join("src"))?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.retain(|path| path.extension() == Some(OsStr::new("java")));
    let log = work.join("javac.log");
    run(compile.args(files), "compile the adapter for Lucene", &log, "its sources need another Lucene")?;

    let java = text(&jdk.join("bin/java"))?;
    let heap = [format!("-Xms{heap_mib}m"), format!("-Xmx{heap_mib}m"), "-XX:+UseParallelGC".into()];
    // Lucene's loops over postings use this module if it is available.
    let vectors = ["--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"];
    let path = ["-cp".into(), format!("{jars}:{}", text(&classes)?), "Peer".into()];
    let command = [java].into_iter().chain(heap).chain(vectors.map(String::from)).chain(path).collect();
    Ok(Ready { version, command })
}

/// Compiles a package of this crate that is not in the workspace into `work`. Returns the directory of its
/// programs.
fn package(work: &Path, name: &str, flags: &str) -> Result<PathBuf> {
    fs::create_dir_all(work).with_context(|| format!("cannot create {}", work.display()))?;
    let target = work.join(name);
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--locked", "--manifest-path"]);
    build.arg(Path::new(HERE).join(name).join("Cargo.toml"));
    build.arg("--target-dir").arg(&target).env("RUSTFLAGS", flags);
    let remedy = "check that the crates of its lock file can be fetched";
    run(&mut build, &format!("build the package {name}"), &work.join(format!("{name}.log")), remedy)?;
    Ok(target.join("release"))
}

/// Compiles the adapter for the crate `name` into `work`, for the processor of this machine.
///
/// # Errors
/// If the build fails. The message says what to do.
pub fn adapter(work: &Path, name: &str) -> Result<Ready> {
    let programs = package(work, name, "-C target-cpu=native")?;
    let lock = Path::new(HERE).join(name).join("Cargo.lock");
    let version = locked_version(&fs::read_to_string(lock)?, name)?;
    Ok(Ready { version, command: vec![text(&programs.join(format!("peer-{name}")))?] })
}

/// Compiles the programs that make and decompress web archives into `work`. Returns their directory.
///
/// # Errors
/// If the build fails. The message says what to do.
pub fn web_archives(work: &Path) -> Result<PathBuf> {
    package(work, "warc", "")
}

/// The command scanns: the given one, or the one in the directory of the driver.
///
/// # Errors
/// If the path of the driver is not known.
pub fn command(given: Option<&Path>) -> Result<PathBuf> {
    let beside = || Ok(std::env::current_exe()?.with_file_name("scanns"));
    given.map_or_else(beside, |given| Ok(given.into()))
}

/// Finds the adapter for scanns, which is built with the driver, in the directory of the driver.
///
/// # Errors
/// If it is missing.
pub fn scanns() -> Result<Ready> {
    let path = std::env::current_exe()?.with_file_name("peer-scanns");
    ensure!(
        path.exists(),
        "{} is missing: build it with cargo build --release -p scanns-peers",
        path.display()
    );
    Ok(Ready { version: env!("CARGO_PKG_VERSION").into(), command: vec![text(&path)?] })
}

/// The adapter at `path`, which was built from an earlier commit.
///
/// # Errors
/// If it is missing.
pub fn of_commit(commit: &str, path: &Path) -> Result<Ready> {
    ensure!(path.exists(), "the adapter of commit {commit} is missing: {} does not exist", path.display());
    Ok(Ready { version: commit.into(), command: vec![text(&std::path::absolute(path)?)?] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_compilers_are_read_from_what_they_print() {
        assert_eq!(major_version("javac 21.0.3\n"), Some(21));
        assert_eq!(major_version("javac 25-ea"), Some(25));
        assert_eq!(major_version("javac 1.8.0_402"), Some(1), "older than any supported version");
        assert_eq!(major_version(""), None);
    }

    #[test]
    fn a_missing_or_old_jdk_is_told_with_what_to_install() {
        let none = newest_jdk([("/x".into(), None)]).unwrap_err().to_string();
        assert!(none.contains("none was found") && none.contains("openjdk-21-jdk-headless"), "{none}");
        let old = newest_jdk([("/old".into(), Some(17))]).unwrap_err().to_string();
        assert!(old.contains("17 at /old") && old.contains("openjdk-21-jdk-headless"), "{old}");
        let found = newest_jdk([("/a".into(), Some(21)), ("/b".into(), Some(25)), ("/c".into(), None)]);
        assert_eq!(found.unwrap(), Path::new("/b"));
    }

    #[test]
    fn the_versions_to_measure_are_those_of_the_build_files() {
        let read = |path: &str| fs::read_to_string(Path::new(HERE).join(path)).unwrap();
        for library in ["lucene", "jsoup", "jackson"] {
            assert!(library_version(&read("java/pom.xml"), library).unwrap().contains('.'));
        }
        for name in ["tantivy", "seekstorm"] {
            assert!(locked_version(&read(&format!("{name}/Cargo.lock")), name).unwrap().contains('.'));
        }
        assert!(library_version("<project/>", "lucene").is_err() && locked_version("", "tantivy").is_err());
    }

    #[test]
    fn a_tool_that_is_missing_or_fails_is_told_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let error = run(&mut Command::new("/no/such/mvn"), "fetch", &log, "install maven").unwrap_err();
        assert!(format!("{error:#}").contains("/no/such/mvn: install maven"), "{error:#}");
        let error =
            run(Command::new("sh").args(["-c", "echo why; exit 3"]), "fetch", &log, "look").unwrap_err();
        assert!(error.to_string().contains("failed, see"), "{error:#}");
        assert_eq!(fs::read_to_string(&log).unwrap(), "why\n");
    }
}
