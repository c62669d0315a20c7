//! A child for the tests: it does what the content of a file says. Its first argument is its mode.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{env, fs, process, thread};

use scanns::extraction::frame::{FrameHeader, FrameKind, HEADER_BYTES, put_bytes};
use scanns::extraction::{ExtractLimits, ExtractorCommand, Extractors};
use scanns_extract::child::{Answer, Confinement, ExtractRequest, Written, confine, serve};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("confined") => {
            let confinement = confine(Written::Nothing);
            serve(|request, answer| obey(&request, answer, &confinement))
        }
        Some("open") => serve(|request, answer| obey(&request, answer, &Confinement::default())),
        Some("parent") => parent(),
        Some("exit") => process::exit(3),
        Some("raw") => raw(arguments.get(1).map_or("", String::as_str)),
        _ => Err(io::Error::other("modes: confined, open, parent, exit, raw KIND")),
    }
}

fn obey(request: &ExtractRequest<'_>, answer: &mut Answer, confinement: &Confinement) {
    let mut content = String::new();
    if let Err(error) = (&mut &*request.file).read_to_string(&mut content) {
        return answer.fail(error);
    }
    let (order, rest) = content.split_once(' ').unwrap_or((&content, ""));
    answer.format("test");
    match order {
        "echo" => drop(answer.push_text(rest)),
        "name" => drop(answer.push_text(&String::from_utf8_lossy(request.name))),
        "unknown" => answer.not_a_document(),
        "fail" => answer.fail(rest),
        "fields" => {
            for at in 0..rest.parse().unwrap_or(0) {
                answer.push_field("n", &format!("{at}"));
            }
        }
        "endless" => while answer.push_text("0123456789abcdef") {},
        "sleep" => thread::sleep(Duration::from_secs(1000)),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "allocate" => allocate(),
        "grow" => drop(answer.push_text(&"x".repeat(300 << 20))),
        "panic" => panic!("on {rest}"),
        "abort" => {
            eprintln!("about to abort");
            process::abort()
        }
        // The first one meets the handler of the standard library, which takes it for a fault and goes back.
        "segv" => loop {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::SEGV);
        },
        "noise" => {
            eprint!("{}", "warning: bad object\n".repeat(100_000));
            answer.push_text("heard");
        }
        "fork" => fork(rest),
        "leave" => leave(rest),
        "confinement" => {
            for (part, on) in confinement.parts() {
                answer.push_field(part, &on.to_string());
            }
        }
        "try" => attempts(request.file, answer, rest),
        "run" => run(request, answer, rest),
        "fds" => drop(answer.push_text(&descriptors())),
        other => answer.fail(format_args!("unknown order {other}")),
    }
}

fn allocate() {
    let mut all = Vec::new();
    loop {
        all.push(vec![1_u8; 16 << 20]);
    }
}

/// Starts a program that outlives a careless end, then hangs.
fn fork(seconds: &str) {
    let _child = Command::new("sleep").arg(seconds).stderr(Stdio::null()).spawn();
    thread::sleep(Duration::from_secs(1000));
}

/// Starts a program, then dies without it.
fn leave(seconds: &str) {
    let _child = Command::new("sleep").arg(seconds).spawn();
    process::exit(7);
}

fn descriptors() -> String {
    let names = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let targets = names.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets.map(|target| format!("{}\n", target.display())).collect()
}

fn attempts(file: &File, answer: &mut Answer, dir: &str) {
    let dir = PathBuf::from(dir);
    let mut attempt = |what: &str, result: io::Result<()>| {
        let outcome = result.map_or_else(|error| format!("{:?}", error.kind()), |()| "done".to_owned());
        answer.push_field(what, &outcome);
    };
    attempt("tcp", TcpStream::connect("127.0.0.1:9").map(drop));
    attempt("udp", UdpSocket::bind("127.0.0.1:0").map(drop));
    attempt("unix", UnixStream::connect("/nonexistent").map(drop));
    attempt("datagram pair", UnixDatagram::pair().map(drop));
    attempt("write", fs::write(dir.join("new"), b""));
    attempt("write device", fs::write("/dev/null", b"x"));
    attempt("read", fs::read(dir.join("secret")).map(drop));
    let mode = fs::Permissions::from_mode(0o600);
    attempt("change mode", fs::set_permissions(dir.join("secret"), mode.clone()));
    attempt("change mode of the file", file.set_permissions(mode));
    attempt("limit parent", limit_parent());
    attempt("remove", fs::remove_file(dir.join("secret")));
    attempt("list root", fs::read_dir("/root").map(drop));
    attempt("list home", fs::read_dir("/home").map(drop));
    attempt("read passwords", fs::read("/etc/shadow").map(drop));
    attempt("read program", File::open("/usr/bin/env").map(drop));
    attempt("own group", Command::new("true").process_group(0).status().map(drop));
    let parent = rustix::process::getppid();
    let signal = parent.map_or(Ok(()), rustix::process::test_kill_process);
    attempt("signal parent", signal.map_err(Into::into));
}

fn limit_parent() -> io::Result<()> {
    let none = rustix::process::Rlimit { current: None, maximum: None };
    Ok(rustix::process::prlimit(rustix::process::getppid(), rustix::process::Resource::Core, none)
        .map(drop)?)
}

/// Runs a program with the file as its standard input.
fn run(request: &ExtractRequest<'_>, answer: &mut Answer, command: &str) {
    let mut words = command.lines().next().unwrap_or_default().split(' ');
    let input = request.file.try_clone().map_or_else(|_| Stdio::null(), Stdio::from);
    let _ = rustix::fs::seek(request.file, rustix::fs::SeekFrom::Start(0));
    match Command::new(words.next().unwrap_or_default()).args(words).stdin(input).output() {
        Ok(output) if output.status.success() => {
            answer.push_text(&String::from_utf8_lossy(&output.stdout));
        }
        Ok(output) => answer.fail(String::from_utf8_lossy(&output.stderr)),
        Err(error) => answer.fail(error),
    }
}

/// An engine whose child hangs with a program of its own; the test kills it.
fn parent() -> io::Result<()> {
    let marker = env::args().nth(2).unwrap_or_default();
    let arguments = vec!["confined".into(), marker.clone().into()];
    let command = ExtractorCommand { program: env::current_exe()?, arguments };
    let extractors = Extractors::new(command, ExtractLimits::default(), 2);
    let never = AtomicBool::new(false);
    let found = extractors.extract_bytes(format!("fork {marker}").as_bytes(), b"", &never);
    Err(io::Error::other(format!("{found:?}")))
}

/// Breaks the protocol, or stretches it.
fn raw(kind: &str) -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut request = [0; 4096];
    let mut answers = 0_usize;
    while (&socket).read(&mut request)? > 0 {
        let whole = valid_answer();
        let send = |bytes: &[u8]| (&socket).write_all(bytes);
        match kind {
            "split" => {
                let (head, tail) = whole.split_at(answers % whole.len());
                send(head)?;
                thread::sleep(Duration::from_millis(2));
                send(tail)?;
            }
            "trickle" => whole.iter().try_for_each(|byte| send(&[*byte]))?,
            "slow" => {
                for byte in whole {
                    send(&[byte])?;
                    thread::sleep(Duration::from_millis(200));
                }
            }
            "changed" => return send(&changed(&request, whole)),
            "half" => return send(whole.get(..whole.len() - 1).unwrap_or_default()),
            "trailing" => send(&[whole, vec![0]].concat())?,
            "late" => {
                send(&whole)?;
                thread::sleep(Duration::from_millis(50));
                send(b"more")?;
            }
            "flood" => loop {
                send(&[b'x'; 4096])?;
            },
            "large" => {
                let header = FrameHeader {
                    kind: FrameKind::Extracted,
                    last: false,
                    passing: false,
                    text: u32::MAX,
                    meta: 5,
                };
                send(&header.encode())?;
                loop {
                    send(&[b'x'; 65536])?;
                }
            }
            "request" => send(&answer(FrameKind::Request, b"", b""))?,
            "latin" => send(&answer(FrameKind::Extracted, b"caf\xe9", &meta()))?,
            "meta" => send(&answer(FrameKind::Extracted, b"", &[255; 9]))?,
            "version" => send(&[[9].as_slice(), &[0; HEADER_BYTES]].concat())?,
            "close" => {
                drop(socket);
                rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
                thread::sleep(Duration::from_secs(1000));
                return Ok(());
            }
            "dead" => {
                send(&whole)?;
                process::exit(0)
            }
            _ => return Err(io::Error::other("unknown kind")),
        }
        answers += 1;
    }
    Ok(())
}

fn valid_answer() -> Vec<u8> {
    answer(FrameKind::Extracted, "größe".as_bytes(), &meta())
}

/// The answer with one byte replaced and its end cut off, as the file's name says: position, value, length.
fn changed(request: &[u8], mut whole: Vec<u8>) -> Vec<u8> {
    let name = request.get(HEADER_BYTES + 32..).unwrap_or_default();
    let mut words = str::from_utf8(name).unwrap_or_default().trim_end_matches('\0').split(' ');
    let mut next = || words.next().and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let (at, value, length) = (next(), next(), next());
    if let Some(byte) = whole.get_mut(at) {
        *byte = u8::try_from(value).unwrap_or(0);
    }
    whole.truncate(length);
    whole
}

fn meta() -> Vec<u8> {
    let mut meta = Vec::new();
    put_bytes(&mut meta, b"raw");
    meta.push(0);
    put_bytes(&mut meta, b"name");
    put_bytes(&mut meta, b"value");
    meta
}

fn answer(kind: FrameKind, text: &[u8], meta: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let header = FrameHeader { kind, last: false, passing: false, text: length(text), meta: length(meta) };
    [&header.encode(), text, meta].concat()
}
