//! What a scan does about the extended attributes and ACLs of an entry. Links have none of interest.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use crate::source::entry_kind::EntryKind;
use crate::source::scan::attribute_reader::{AttributeFaults, AttributeReader};
use crate::source::scan::status::ScanStatus;
use crate::source::scan::worker::ScanWorker;
use crate::sys::lock;

impl ScanWorker<'_> {
    /// Reads the attributes of the current path.
    pub(super) fn read_attributes(
        &mut self,
        reader: &mut AttributeReader,
        status: &ScanStatus,
        directory: BorrowedFd<'_>,
        name: &CStr,
    ) {
        reader.begin(&self.path, directory, name);
        if status.values.kind == Some(EntryKind::Link) || reader.without.contains(&status.device) {
            return;
        }
        let mut faults = AttributeFaults::default();
        self.operation();
        let names = match reader.list() {
            Ok(names) => names,
            Err(Errno::OPNOTSUPP) => return self.has_no_attributes(reader, status),
            Err(_) => {
                faults.unread = true;
                Vec::new()
            }
        };
        for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            self.operation();
            match reader.read(name) {
                Ok(Some(length)) => reader.add(name, Some(length), &mut faults),
                Ok(None) => {}
                Err(_) => reader.add(name, None, &mut faults),
            }
        }
        if faults.unread {
            self.report.unread_attributes.add(&self.path);
        }
        if faults.cut {
            self.report.cut_attributes.add(&self.path);
        }
    }

    /// Remembers a file system without attributes. Special files may have none where others have some.
    fn has_no_attributes(&mut self, reader: &mut AttributeReader, status: &ScanStatus) {
        if !matches!(status.values.kind, Some(EntryKind::File | EntryKind::Directory)) {
            return;
        }
        reader.without.insert(status.device);
        if lock(&self.shared.without_attributes).insert(status.device) {
            self.report.without_attributes.add(&self.path);
        }
    }
}
