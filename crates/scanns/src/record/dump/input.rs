//! The bytes of a dump and their place in it, for readers that go through a dump once.
//!
//! [`DumpInput`] copies its input in chunks of 64 KiB, so that a look at the next byte costs a comparison and
//! not a call of the input. Lengths that a dump claims are never allocated before their bytes have arrived.

use std::io::{self, BufRead, ErrorKind};

use super::DumpTally;

/// The bytes that are taken from the input at once.
const CHUNK: usize = 64 << 10;

/// Why a reader stops before the regular end of its dump.
#[derive(Debug)]
pub(super) enum Halt {
    /// The dump ends where more was expected.
    End,
    /// The visitor wants no more entries.
    Stopped,
    /// The input failed, or the dump cannot be read any further.
    Failed(io::Error),
}

impl Halt {
    /// The dump cannot be read any further because of what stands at `offset`.
    #[cold]
    pub fn invalid(offset: u64, problem: impl std::fmt::Display) -> Self {
        Halt::Failed(io::Error::new(ErrorKind::InvalidData, format!("byte {offset}: {problem}")))
    }
}

/// Turns the result of a reader into the result of `ReadDump::read`: a dump that ends early is marked, and
/// what was read of it is kept.
pub(super) fn settle(result: Result<(), Halt>, tally: &mut DumpTally) -> io::Result<()> {
    match result {
        Ok(()) | Err(Halt::Stopped) => Ok(()),
        Err(Halt::End) => {
            tally.truncated = true;
            Ok(())
        }
        Err(Halt::Failed(error)) => Err(error),
    }
}

/// The bytes of a dump that are still to be read.
pub(super) struct DumpInput<'i> {
    input: &'i mut dyn BufRead,
    /// Bytes of the input, of which those before `at` are read.
    chunk: Vec<u8>,
    at: usize,
    /// The number of bytes of the dump before `chunk`.
    before: u64,
}

impl<'i> DumpInput<'i> {
    /// The bytes of `input`, from its start.
    pub fn new(input: &'i mut dyn BufRead) -> Self {
        DumpInput { input, chunk: Vec::with_capacity(CHUNK), at: 0, before: 0 }
    }

    /// The place of the next byte in the dump.
    pub fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// The next byte, which stays.
    #[inline]
    pub fn peek(&mut self) -> Result<u8, Halt> {
        match self.chunk.get(self.at) {
            Some(byte) => Ok(*byte),
            None => self.refill().map(|()| self.chunk.first().copied().unwrap_or_default()),
        }
    }

    /// The next byte, which is read.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Halt> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    /// The next bytes, at least one.
    pub fn rest(&mut self) -> Result<&[u8], Halt> {
        self.peek()?;
        Ok(self.chunk.get(self.at..).unwrap_or_default())
    }

    /// Marks `count` bytes of [`Self::rest`] as read.
    pub fn advance(&mut self, count: usize) {
        self.at = self.chunk.len().min(self.at + count);
    }

    /// True if there is no byte left.
    pub fn is_at_end(&mut self) -> Result<bool, Halt> {
        match self.peek() {
            Ok(_) => Ok(false),
            Err(Halt::End) => Ok(true),
            Err(halt) => Err(halt),
        }
    }

    /// Reads the next `count` bytes into `into`.
    pub fn exact(&mut self, count: u64, into: &mut Vec<u8>) -> Result<(), Halt> {
        into.clear();
        self.append(count, into)
    }

    /// Appends the next `count` bytes to `into`, which grows with the bytes that are there.
    pub fn append(&mut self, count: u64, into: &mut Vec<u8>) -> Result<(), Halt> {
        let mut left = count;
        while left > 0 {
            let rest = self.rest()?;
            let some = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            into.extend_from_slice(rest.get(..some).unwrap_or_default());
            self.advance(some);
            left -= some as u64;
        }
        Ok(())
    }

    /// Reads over the next `count` bytes.
    pub fn skip(&mut self, count: u64) -> Result<(), Halt> {
        let mut left = count;
        while left > 0 {
            let some = usize::try_from(left).unwrap_or(usize::MAX).min(self.rest()?.len());
            self.advance(some);
            left -= some as u64;
        }
        Ok(())
    }

    /// Reads up to the next byte `end`, which is not stored, into `into`. Of more than `limit` bytes the
    /// first `limit` are stored, and the result is false.
    pub fn until(&mut self, end: u8, into: &mut Vec<u8>, limit: usize) -> Result<bool, Halt> {
        into.clear();
        let mut fits = true;
        loop {
            let rest = self.rest()?;
            let found = memchr::memchr(end, rest);
            let text = rest.get(..found.unwrap_or(rest.len())).unwrap_or(rest);
            let room = limit - into.len();
            fits &= text.len() <= room;
            into.extend_from_slice(text.get(..room).unwrap_or(text));
            let read = text.len();
            self.advance(read + usize::from(found.is_some()));
            if found.is_some() {
                return Ok(fits);
            }
        }
    }

    /// Takes the next bytes of the input.
    #[cold]
    fn refill(&mut self) -> Result<(), Halt> {
        self.before += self.chunk.len() as u64;
        self.chunk.clear();
        self.at = 0;
        loop {
            match self.input.fill_buf() {
                Ok([]) => return Err(Halt::End),
                Ok(bytes) => {
                    self.chunk.extend_from_slice(bytes.get(..CHUNK).unwrap_or(bytes));
                    break;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Halt::Failed(error)),
            }
        }
        self.input.consume(self.chunk.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Gives its bytes one by one, each after an interruption, and then fails.
    struct Failing<'b> {
        bytes: &'b [u8],
        interrupted: bool,
    }

    impl Read for Failing<'_> {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(ErrorKind::Unsupported.into())
        }
    }

    impl BufRead for Failing<'_> {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            self.interrupted = !self.interrupted;
            match self.bytes {
                _ if self.interrupted => Err(ErrorKind::Interrupted.into()),
                [] => Err(io::Error::other("the tape tore")),
                bytes => Ok(&bytes[..1]),
            }
        }

        fn consume(&mut self, count: usize) {
            self.bytes = &self.bytes[count..];
        }
    }

    #[test]
    fn interruptions_are_repeated_and_errors_are_passed_on() {
        let mut input = Failing { bytes: b"abc", interrupted: false };
        let mut input = DumpInput::new(&mut input);
        let mut read = Vec::new();
        input.exact(3, &mut read).unwrap();
        assert_eq!((read.as_slice(), input.offset()), (b"abc".as_slice(), 3));
        let result = settle(input.byte().map(|_| ()), &mut DumpTally::default());
        assert_eq!(result.unwrap_err().to_string(), "the tape tore");
    }

    #[test]
    fn what_is_longer_than_the_limit_is_cut_and_read_to_its_end() {
        let mut bytes = b"abcdef,gh,".as_slice();
        let mut input = DumpInput::new(&mut bytes);
        let mut text = Vec::new();
        assert!(!input.until(b',', &mut text, 4).unwrap());
        assert_eq!((text.as_slice(), input.offset()), (b"abcd".as_slice(), 7));
        assert!(input.until(b',', &mut text, 2).unwrap() && text == b"gh" && input.is_at_end().unwrap());
        assert!(matches!(input.until(b',', &mut text, 2), Err(Halt::End)));
    }

    #[test]
    fn places_count_over_chunks() {
        let bytes = vec![7; 3 * CHUNK + 5];
        let mut input = bytes.as_slice();
        let mut input = DumpInput::new(&mut input);
        input.skip(2 * CHUNK as u64 + 1).unwrap();
        assert_eq!((input.offset(), input.byte().unwrap()), (2 * CHUNK as u64 + 1, 7));
        assert!(matches!(input.skip(u64::MAX), Err(Halt::End)));
        assert_eq!(input.offset(), bytes.len() as u64);
    }
}
