//! Runs all jobs: builds in turns, then the comparison of the answers, then the questions in turns.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use scanns_bench::child::{self, Cost};
use scanns_bench::stats::in_turns;

use super::answer::{self, Verdict};
use super::build::{self, Room};
use super::listing::{self, Listed};
use super::question::{self, Question};
use super::tool::{Found, Tool};

/// What to compare.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The directory with the entries. It must not change meanwhile.
    pub tree: PathBuf,
    /// The command scanns, if it is measured.
    pub scanns: Option<PathBuf>,
    /// Rounds of builds and of questions.
    pub rounds: usize,
    /// Directory for what the tools write.
    pub work: PathBuf,
}

/// All measurements.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The entries of the tree, and the tree.
    pub entries: u64,
    /// The builds of each tool that reads the tree.
    pub builds: Vec<Builds>,
    /// The questions.
    pub asked: Vec<Answers>,
    /// Programs that ended with an error.
    faults: Vec<String>,
}

/// The builds of a tool.
#[derive(Clone, Debug)]
pub struct Builds {
    /// The tool.
    pub tool: Tool,
    /// A build from nothing, by round.
    pub first: Vec<Cost>,
    /// A build over an earlier one, by round.
    pub again: Vec<Cost>,
    /// The bytes of what it wrote, if it keeps something.
    pub bytes: Option<u64>,
    /// The number of entries in it, if this is known without a question.
    pub entries: Option<u64>,
}

/// A question, and the answers of all tools that can be asked.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The question.
    pub question: Question,
    /// The question as find or du is asked.
    pub label: String,
    /// The number of paths, or the sum in bytes.
    pub result: u64,
    /// The answer of each tool.
    pub each: Vec<Answered>,
}

/// The answer of a tool.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The tool.
    pub tool: Tool,
    /// How it differs from the right one.
    pub verdict: Verdict,
    /// What each round took.
    pub costs: Vec<Cost>,
}

impl Figures {
    /// Figures of programs that all ended without an error.
    pub fn of(entries: u64, builds: Vec<Builds>, asked: Vec<Answers>) -> Self {
        Figures { entries, builds, asked, faults: Vec::new() }
    }

    /// True if all answers of a tool are right.
    pub fn is_right(&self, tool: Tool) -> bool {
        let answers = self.asked.iter().flat_map(|asked| &asked.each).filter(|answer| answer.tool == tool);
        answers.into_iter().all(|answer| answer.verdict == Verdict::Equal)
    }

    /// Remarks: first differences, exports without all entries, and programs that ended with an error.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let differences = self.asked.iter().flat_map(|asked| {
            asked.each.iter().filter_map(|answer| {
                let first = answer.verdict.first()?;
                Some(format!("{}, {}: {}; {first}", answer.tool.name(), asked.label, answer.verdict.words()))
            })
        });
        let exports = self.builds.iter().filter_map(|built| {
            let entries = built.entries.filter(|&entries| entries != self.entries)?;
            Some(format!("{} wrote {entries} entries of {}", built.tool.name(), self.entries))
        });
        differences.chain(exports).chain(self.faults.iter().cloned())
    }
}

/// The tools, where they work, and how often.
struct Driver<'a> {
    tools: &'a [Found],
    room: Room,
    rounds: usize,
    faults: Vec<String>,
}

/// Measures everything.
///
/// # Errors
/// If a program cannot be run, or a file cannot be read.
pub fn run(comparison: &Comparison, tools: &[Found]) -> Result<Figures> {
    let room = Room { tree: comparison.tree.clone(), work: comparison.work.clone() };
    let mut driver = Driver { tools, room, rounds: comparison.rounds.max(1), faults: Vec::new() };
    tell(&format!("reading the metadata of {}", comparison.tree.display()));
    let mut builds = driver.warm()?;
    driver.build(&mut builds)?;
    let list = fs::read(driver.room.output(Tool::Find))?;
    let entries = listing::read(&list)?;
    let mut asked = Vec::new();
    for question in question::choose(&entries) {
        asked.push(driver.answer(question, &entries)?);
    }
    let entries = entries.len() as u64;
    drop(list);
    driver.measure(&mut asked)?;
    Ok(Figures { entries, builds, asked, faults: driver.faults })
}

/// Prints a line of progress.
fn tell(text: &str) {
    eprintln!("peers: {text}");
}

impl Driver<'_> {
    fn program(&self, tool: Tool) -> Result<&Found> {
        let found = self.tools.iter().find(|found| found.tool == tool);
        found.with_context(|| format!("{} is not installed", tool.name()))
    }

    /// Runs a program, and notes if it ends with an error.
    fn run(&mut self, program: &Path, words: &[OsString], keep: bool) -> Result<child::Ran> {
        let ran = child::run(program, words, None, keep)?;
        if ran.code != Some(0) {
            let why = ran.errors.lines().next().unwrap_or("without a message");
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            let how = ran.code.map_or("a signal".into(), |code| format!("exit code {code}"));
            let fault = format!("{} {} ended with {how}: {why}", program.display(), words.join(" "));
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
        Ok(ran)
    }

    /// Builds once with each tool, so that the tree is in the page cache.
    fn warm(&mut self) -> Result<Vec<Builds>> {
        let mut builds = Vec::new();
        for found in self.tools {
            let tool = found.tool;
            let Some(words) = self.room.build(tool) else { continue };
            self.room.clear(tool)?;
            self.run(&found.builds, &words, false)?;
            tell(&format!("{} has read it", tool.name()));
            let output = self.room.output(tool);
            let bytes = output.exists().then(|| build::bytes(&output)).transpose()?;
            let entries = match tool {
                Tool::Ncdu | Tool::Gdu => fs::read(&output).ok().map(|json| build::exported(&json)),
                _ => None,
            };
            builds.push(Builds { tool, first: Vec::new(), again: Vec::new(), bytes, entries });
        }
        Ok(builds)
    }

    /// Builds with all tools in turns: from nothing, and then those again that can use an earlier build.
    fn build(&mut self, builds: &mut [Builds]) -> Result<()> {
        for again in [false, true] {
            let each = builds.iter().enumerate();
            let places: Vec<usize> =
                each.filter(|(_, built)| !again || Room::updates(built.tool)).map(|(at, _)| at).collect();
            in_turns(self.rounds, &places, |&at| {
                let Some(built) = builds.get_mut(at) else { return Ok(0.0) };
                let Some(words) = self.room.build(built.tool) else { return Ok(0.0) };
                if !again {
                    self.room.clear(built.tool)?;
                }
                let program = self.program(built.tool)?.builds.clone();
                let cost = self.run(&program, &words, false)?.cost;
                let which = if again { "again in" } else { "in" };
                tell(&format!("{} built {which} {:.2} s", built.tool.name(), cost.wall));
                if again { &mut built.again } else { &mut built.first }.push(cost);
                anyhow::Ok(cost.wall)
            })?;
        }
        Ok(())
    }

    /// Asks all tools once, and compares the answers.
    fn answer(&mut self, question: Question, entries: &[Listed<'_>]) -> Result<Answers> {
        let label = question.label(&self.room);
        let judge = question.judge();
        let program = self.program(judge)?.asks.clone();
        let words = question.ask(judge, &self.room).context("find and du have no question")?;
        let right = self.run(&program, &words, true)?.output;
        let tree = self.room.tree.clone();
        let tree = tree.as_os_str().as_bytes();
        let expected = answer::paths(&right, tree);
        let mut each = Vec::new();
        for found in self.tools {
            let Some(words) = question.ask(found.tool, &self.room) else { continue };
            let output = self.run(&found.asks, &words, true)?.output;
            let verdict = match &question {
                Question::Space(directory) => {
                    let path = directory.as_os_str().as_bytes();
                    let own =
                        entries.iter().find(|entry| entry.path == path).map_or(0, |entry| entry.blocks * 512);
                    Verdict::of_sums(answer::sum(&right).unwrap_or(0), answer::sum(&output), own)
                }
                _ => Verdict::of_paths(&expected, &answer::paths(&output, tree)),
            };
            tell(&format!("{label}: the answer of {} is {}", found.tool.name(), verdict.words()));
            each.push(Answered { tool: found.tool, verdict, costs: Vec::new() });
        }
        let result = match &question {
            Question::Space(_) => answer::sum(&right).unwrap_or(0),
            _ => expected.len() as u64,
        };
        Ok(Answers { question, label, result, each })
    }

    /// Asks all questions in turns.
    fn measure(&mut self, asked: &mut [Answers]) -> Result<()> {
        let each =
            asked.iter().enumerate().flat_map(|(at, asked)| (0..asked.each.len()).map(move |of| (at, of)));
        let places: Vec<(usize, usize)> = each.collect();
        tell(&format!("{} rounds of {} questions", self.rounds, places.len()));
        in_turns(self.rounds, &places, |&(at, of)| {
            let Some(asked) = asked.get_mut(at) else { return Ok(0.0) };
            let Some(answered) = asked.each.get_mut(of) else { return Ok(0.0) };
            let Some(words) = asked.question.ask(answered.tool, &self.room) else { return Ok(0.0) };
            let program = self.program(answered.tool)?.asks.clone();
            let cost = self.run(&program, &words, false)?.cost;
            tell(&format!("{}: {} took {:.4} s", asked.label, answered.tool.name(), cost.wall));
            answered.costs.push(cost);
            anyhow::Ok(cost.wall)
        })?;
        Ok(())
    }
}
