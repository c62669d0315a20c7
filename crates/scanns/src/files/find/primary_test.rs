//! Reads the tests of an expression.

use super::age::{TimeColumn, TimeTest, used};
use super::error::{FindError, text};
use super::expression::Test;
use super::facts::{OwnerIdentity, ReferenceEntry};
use super::glob::Glob;
use super::kinds::KindSet;
use super::number::{NumberTest, SizeTest};
use super::permission::Permission;
use super::primary::Primaries;
use super::regex::PathRegex;

impl Primaries<'_> {
    /// Reads the arguments of a test; none where the word is none.
    pub(super) fn test(&mut self, word: &[u8]) -> Result<Option<Test>, FindError> {
        let test = match word {
            b"-empty" => Test::Empty,
            b"-nouser" => Test::NoUser,
            b"-nogroup" => Test::NoGroup,
            b"-content" => self.content(word)?,
            b"-type" => Test::Kind(KindSet::parse(word, self.argument(word)?)?),
            b"-xtype" => Test::TargetKind(KindSet::parse(word, self.argument(word)?)?),
            b"-size" => Test::Size(SizeTest::parse(self.argument(word)?)?),
            b"-perm" => Test::Permission(Permission::parse(self.argument(word)?)?),
            b"-used" => Test::Used(used(self.argument(word)?)?),
            b"-uid" => Test::UserId(self.number(word)?),
            b"-gid" => Test::GroupId(self.number(word)?),
            b"-inum" => Test::Inode(self.number(word)?),
            b"-links" => Test::Links(self.number(word)?),
            b"-user" => {
                let name = self.argument(word)?;
                Test::User(name.to_vec(), identity(word, name, self.facts.user(name))?)
            }
            b"-group" => {
                let name = self.argument(word)?;
                Test::Group(name.to_vec(), identity(word, name, self.facts.group(name))?)
            }
            b"-samefile" => self.same_file(word)?,
            word => return self.pattern_or_time(word),
        };
        Ok(Some(test))
    }

    fn number(&mut self, word: &[u8]) -> Result<NumberTest, FindError> {
        NumberTest::parse(word, self.argument(word)?)
    }

    fn pattern_or_time(&mut self, word: &[u8]) -> Result<Option<Test>, FindError> {
        let test = match word {
            b"-name" => Test::Name(self.name(word, false)?),
            b"-iname" => Test::Name(self.name(word, true)?),
            b"-path" | b"-wholename" => Test::Path(Glob::new(self.argument(word)?, false)),
            b"-ipath" | b"-iwholename" => Test::Path(Glob::new(self.argument(word)?, true)),
            b"-lname" => Test::LinkTarget(Glob::new(self.argument(word)?, false)),
            b"-ilname" => Test::LinkTarget(Glob::new(self.argument(word)?, true)),
            b"-regex" => self.regex(word, false)?,
            b"-iregex" => self.regex(word, true)?,
            word => return self.time(word),
        };
        Ok(Some(test))
    }

    fn name(&mut self, word: &[u8], fold: bool) -> Result<Glob, FindError> {
        let pattern = self.argument(word)?;
        if pattern.contains(&b'/') && pattern != b"/" {
            let (word, shown) = (text(word), text(pattern));
            self.warnings.push(format!(
                "{word} compares names without directories, so '{shown}' never matches: use -path"
            ));
        }
        Ok(Glob::new(pattern, fold))
    }

    fn regex(&mut self, word: &[u8], fold: bool) -> Result<Test, FindError> {
        let expression = self.argument(word)?;
        Ok(Test::Regex(Box::new(PathRegex::new(expression, self.dialect, fold)?)))
    }

    fn time(&mut self, word: &[u8]) -> Result<Option<Test>, FindError> {
        let (clock, is_days) = match word {
            b"-mtime" => (TimeColumn::Modified, true),
            b"-atime" => (TimeColumn::Accessed, true),
            b"-ctime" => (TimeColumn::Changed, true),
            b"-mmin" => (TimeColumn::Modified, false),
            b"-amin" => (TimeColumn::Accessed, false),
            b"-cmin" => (TimeColumn::Changed, false),
            word => return self.newer(word),
        };
        let argument = self.argument(word)?;
        let test =
            if is_days { self.origin.days(word, argument)? } else { self.origin.minutes(word, argument)? };
        Ok(Some(Test::Time(clock, test)))
    }

    /// `-newer`, `-anewer`, `-cnewer` and `-newerXY`.
    fn newer(&mut self, word: &[u8]) -> Result<Option<Test>, FindError> {
        let (clock, other) = match word {
            b"-newer" => (TimeColumn::Modified, b'm'),
            b"-anewer" => (TimeColumn::Accessed, b'm'),
            b"-cnewer" => (TimeColumn::Changed, b'm'),
            [b'-', b'n', b'e', b'w', b'e', b'r', clock, other @ (b'a' | b'B' | b'c' | b'm' | b't')] => {
                let clock = match clock {
                    b'a' => TimeColumn::Accessed,
                    b'B' => TimeColumn::Born,
                    b'c' => TimeColumn::Changed,
                    b'm' => TimeColumn::Modified,
                    _ => return Ok(None),
                };
                (clock, *other)
            }
            _ => return Ok(None),
        };
        let argument = self.argument(word)?;
        let limit = match other {
            b't' => self.setting.time(word, argument)?,
            other => reference_time(word, argument, self.reference(word, argument)?, other)?,
        };
        Ok(Some(Test::Time(clock, TimeTest::after(limit))))
    }

    fn reference(&self, word: &[u8], path: &[u8]) -> Result<ReferenceEntry, FindError> {
        self.facts.reference(path).ok_or_else(|| {
            let (word, path) = (text(word), text(path));
            let hint =
                if word.contains("newer") { "; write -newermt with a date for another time" } else { "" };
            FindError::new(format!(
                "the index has no entry '{path}' for {word}: write a path as it is indexed{hint}"
            ))
        })
    }

    fn same_file(&mut self, word: &[u8]) -> Result<Test, FindError> {
        let path = self.argument(word)?;
        let ReferenceEntry { inode, device, .. } = self.reference(word, path)?;
        let inode =
            inode.ok_or_else(|| FindError::new(format!("the index holds no inode of '{}'", text(path))))?;
        Ok(Test::SameFile { inode, device })
    }
}

/// One time of a reference.
fn reference_time(word: &[u8], path: &[u8], reference: ReferenceEntry, which: u8) -> Result<i64, FindError> {
    let time = match which {
        b'a' => reference.atime,
        b'B' => reference.btime,
        b'c' => reference.ctime,
        _ => reference.mtime,
    };
    time.ok_or_else(|| {
        let (word, path) = (text(word), text(path));
        FindError::new(format!(
            "the index does not hold the time of '{path}' that {word} compares: write -newermt and a date"
        ))
    })
}

/// The identity of a name; digits that are no name are a number.
fn identity(word: &[u8], name: &[u8], known: Option<OwnerIdentity>) -> Result<OwnerIdentity, FindError> {
    let is_number = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    let number = || std::str::from_utf8(name).ok().filter(|_| is_number)?.parse().ok();
    let identity = known.or_else(|| number().map(OwnerIdentity::Id));
    identity.ok_or_else(|| {
        FindError::argument(word, name, "no entry of the index has this name; write a name or a number")
    })
}
