//! Reads the actions of an expression, and says what to write instead of those that an index cannot do.

use super::error::{FindError, text};
use super::expression::{Action, FindOutput};
use super::format::Format;
use super::primary::Primaries;

impl Primaries<'_> {
    /// Reads the arguments of an action; none where the word is none.
    pub(super) fn action(&mut self, word: &[u8]) -> Result<Option<Action>, FindError> {
        let action = match word {
            b"-print" => Action::Print(0),
            b"-print0" => Action::PrintZero(0),
            b"-ls" => Action::List(0),
            b"-printf" => Action::Printf(0, self.format(word)?),
            b"-fprint" => Action::Print(self.output(word)?),
            b"-fprint0" => Action::PrintZero(self.output(word)?),
            b"-fls" => Action::List(self.output(word)?),
            b"-fprintf" => {
                let output = self.output(word)?;
                Action::Printf(output, self.format(word)?)
            }
            b"-prune" => Action::Prune,
            b"-quit" => Action::Quit,
            word => return refused(word).map_or(Ok(None), Err),
        };
        Ok(Some(action))
    }

    fn format(&mut self, word: &[u8]) -> Result<Format, FindError> {
        let (format, warnings) = Format::parse(self.argument(word)?)?;
        self.warnings.extend(warnings);
        Ok(format)
    }

    /// The number of the output that the argument names.
    fn output(&mut self, word: &[u8]) -> Result<usize, FindError> {
        let output = match self.argument(word)? {
            b"/dev/stdout" => FindOutput::Standard,
            b"/dev/stderr" => FindOutput::StandardError,
            path => FindOutput::File(path.to_vec()),
        };
        if let Some(number) = self.outputs.iter().position(|known| *known == output) {
            return Ok(number);
        }
        self.outputs.push(output);
        Ok(self.outputs.len() - 1)
    }
}

/// The error of a word that needs the live file system.
fn refused(word: &[u8]) -> Option<FindError> {
    let pipe = |command: &str| format!("pipe the result: scanns find … -print0 | xargs -0 {command}");
    let test = |test: &str| {
        let start = "run find on the result: scanns find … -print0 | xargs -0 sh -c";
        format!("{start} 'find \"$@\" -maxdepth 0 {test}' find")
    };
    let instead = match word {
        b"-exec" | b"-execdir" => pipe("COMMAND"),
        b"-ok" | b"-okdir" => pipe("-p COMMAND"),
        b"-delete" => "pipe the result: scanns find … -depth -print0 | xargs -0 rm -d --".to_owned(),
        b"-readable" | b"-writable" | b"-executable" => test(&text(word)),
        b"-fstype" => test("-fstype TYPE"),
        b"-context" => test("-context PATTERN"),
        b"-files0-from" => {
            "pass the paths as arguments: xargs -0 -a FILE sh -c 'scanns find INDEX \"$@\" -print' find"
                .to_owned()
        }
        _ => return None,
    };
    Some(FindError::new(format!("an index cannot answer {}: {instead}", text(word))))
}
