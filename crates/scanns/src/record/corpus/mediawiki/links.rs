//! The links of wikitext: to pages, files, categories and addresses.

use super::stripper::{LinkTarget, Stripper, WikiLink, starting};

/// Options of files that are no captions.
const FILE_OPTIONS: [&[u8]; 12] = [
    b"thumb",
    b"thumbnail",
    b"frame",
    b"framed",
    b"frameless",
    b"border",
    b"left",
    b"right",
    b"center",
    b"none",
    b"upright",
    b"miniatur",
];

impl Stripper<'_> {
    /// A `[`: begins a link to a page or an address, or is text.
    pub(super) fn open_link(&mut self) {
        if let Some(place) = starting(&self.links, &mut self.passed[1], self.at) {
            self.at += 2;
            let (target, length) = target_of(self.rest());
            self.at += length;
            self.open_links.push(WikiLink { target, end: place.end - 2, text: self.into.len(), bar: None });
        } else if self.lines.closes_after(self.at)
            && let Some(length) = address_length(self.rest())
        {
            self.at += 1 + length;
            let blanks = self.run_of(b" \t");
            if self.follows(b"]") {
                self.at -= length;
                self.push(length);
            }
            self.at += blanks;
            self.addresses += 1;
        } else {
            self.push(1);
        }
    }

    /// A `]`: ends the last link, or is text.
    pub(super) fn close_link(&mut self) {
        let link = self.open_links.pop_if(|link| link.end == self.at);
        let Some(link) = link else {
            if let Some(left) = self.addresses.checked_sub(1) {
                self.addresses = left;
                self.at += 1;
            } else {
                self.push(1);
            }
            return;
        };
        self.at += 2;
        match link.target {
            LinkTarget::Page => {}
            LinkTarget::File => {
                let last = self.into.get(link.text..).unwrap_or_default();
                if link.bar.is_none() || is_file_option(last.trim_ascii()) {
                    self.into.truncate(link.text);
                }
            }
            LinkTarget::Category => self.into.truncate(link.bar.unwrap_or(usize::MAX)),
        }
    }

    /// A `|`: parts a link or the cells of a table, or is text.
    pub(super) fn push_bar(&mut self) {
        while self.open_links.last().is_some_and(|link| link.end < self.at) {
            self.open_links.pop();
        }
        let Some(link) = self.open_links.last_mut() else {
            if self.lines.tables > 0 && self.follows(b"||") {
                self.begin_cell(2);
            } else {
                self.push(1);
            }
            return;
        };
        let is_first = link.bar.is_none();
        link.bar.get_or_insert(self.into.len());
        match link.target {
            LinkTarget::Page if !is_first => return self.push(1),
            LinkTarget::Page | LinkTarget::File => self.into.truncate(link.text),
            LinkTarget::Category => {}
        }
        self.at += 1;
    }

    /// At the end of a line, links to addresses end, and so do links whose target has a line break.
    pub(super) fn end_links_of_line(&mut self) {
        let at = self.at;
        let ends =
            |link: &mut WikiLink| link.end < at || (link.target == LinkTarget::Page && link.bar.is_none());
        while self.open_links.pop_if(ends).is_some() {}
        self.addresses = 0;
    }
}

/// What a link is to, and the length of the prefix that is left out.
fn target_of(link: &[u8]) -> (LinkTarget, usize) {
    let begins =
        |prefix: &[u8]| link.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
    if begins(b"file:") || begins(b"image:") {
        (LinkTarget::File, 0)
    } else if begins(b"category:") {
        (LinkTarget::Category, b"category:".len())
    } else {
        (LinkTarget::Page, usize::from(begins(b":")))
    }
}

/// The length of the address after a `[`.
fn address_length(link: &[u8]) -> Option<usize> {
    let inside = link.get(1..)?;
    let schemes: [&[u8]; 5] = [b"http://", b"https://", b"//", b"ftp://", b"mailto:"];
    schemes.iter().find(|scheme| inside.starts_with(scheme))?;
    Some(inside.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b']').unwrap_or(inside.len()))
}

fn is_file_option(part: &[u8]) -> bool {
    let has_prefix = [&b"alt="[..], b"link=", b"upright="].iter().any(|prefix| part.starts_with(prefix));
    has_prefix
        || FILE_OPTIONS.contains(&part)
        || part
            .strip_suffix(b"px")
            .is_some_and(|size| size.iter().all(|byte| byte.is_ascii_digit() || *byte == b'x'))
}
