//! The values of all hits, row by row: what is exported.
//!
//! Hits come in the order of documents. Some of them are taken together and read field by field, so that each column is read
//! from front to back; what is held in memory are the values of that many.

use std::ops::ControlFlow;

use super::Snapshot;
use crate::error::{Error, Result};
use crate::schema::{Field, Value};
use crate::search::{Hit, Query, docs_of};

/// Hits that are read together.
const ROWS: usize = 1_024;

/// The fields of rows.
struct Rows<'r> {
    /// Those that are columns, and where in a row.
    columns: Vec<(Field, usize)>,
    /// Those that are only stored.
    stored: Vec<(Field, usize)>,
    rows: Vec<Vec<Vec<Value>>>,
    /// The values of one field of all of them.
    values: Vec<Vec<Value>>,
    visit: &'r mut RowVisit<'r>,
}

/// Takes a hit and its values, by field that was asked for.
pub type RowVisit<'r> = dyn FnMut(&Hit, &[Vec<Value>]) -> Result<ControlFlow<()>> + 'r;

impl Snapshot {
    /// Calls `visit` with every hit and its values of `fields`, in the order of documents, until it breaks. The values are
    /// those of columns, or else stored ones; a score is not computed.
    ///
    /// # Errors
    /// [`Error::Options`] for a field that is neither a column nor stored, [`Error::Corrupt`] if values cannot be read, and
    /// whatever `visit` says.
    pub fn for_each_row<'r>(
        &'r self,
        query: &Query,
        fields: &[Field],
        visit: &'r mut RowVisit<'r>,
    ) -> Result<()> {
        let (mut columns, mut stored) = (Vec::new(), Vec::new());
        for (&field, place) in fields.iter().zip(0..) {
            match self.schema().entry(field) {
                Some(entry) if entry.column => columns.push((field, place)),
                Some(entry) if entry.stored => stored.push((field, place)),
                other => {
                    let name = other.map_or("", |entry| entry.name.as_str());
                    return Err(Error::Options(format!(
                        "the values of field '{name}' are not kept: only those of columns and of stored fields are"
                    )));
                }
            }
        }
        let rows = vec![vec![Vec::new(); fields.len()]; ROWS];
        let values = vec![Vec::new(); ROWS];
        let mut rows = Rows { columns, stored, rows, values, visit };
        let mut outcome = Ok(());
        let mut hits = Vec::with_capacity(ROWS);
        self.searcher().for_each_window(query, |leaf, start, bits| {
            for doc in docs_of(start, bits) {
                hits.push(Hit { leaf, doc, score: 0.0 });
                if hits.len() == ROWS && !go_on(rows.send(self, &mut hits), &mut outcome) {
                    return ControlFlow::Break(());
                }
            }
            match go_on(rows.send(self, &mut hits), &mut outcome) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        outcome
    }
}

/// False if it broke or failed, which is noted.
fn go_on(sent: Result<ControlFlow<()>>, outcome: &mut Result<()>) -> bool {
    match sent {
        Ok(flow) => flow.is_continue(),
        Err(error) => {
            *outcome = Err(error);
            false
        }
    }
}

impl Rows<'_> {
    /// Reads and sends the hits, which are of one leaf, and forgets them.
    fn send(&mut self, snapshot: &Snapshot, hits: &mut Vec<Hit>) -> Result<ControlFlow<()>> {
        let Rows { columns, stored, rows, values, visit } = self;
        rows.iter_mut().take(hits.len()).flatten().for_each(Vec::clear);
        let docs: Vec<u32> = hits.iter().map(|hit| hit.doc).collect();
        let segment = hits.first().and_then(|hit| snapshot.leaves().get(hit.leaf));
        for &(field, place) in &*columns {
            let Some(column) = segment.and_then(|segment| segment.column(field)) else { continue };
            column.values_of_each(&docs, values)?;
            for (values, row) in values.iter_mut().zip(&mut *rows).take(docs.len()) {
                if let Some(slot) = row.get_mut(place) {
                    // What was there is empty, and is filled next.
                    std::mem::swap(slot, values);
                }
            }
        }
        for (hit, row) in hits.iter().zip(&mut *rows).filter(|_| !stored.is_empty()) {
            for (of, value) in snapshot.values(hit)?.unwrap_or_default() {
                let place = stored.iter().find(|(field, _)| *field == of);
                if let Some(values) = place.and_then(|&(_, place)| row.get_mut(place)) {
                    values.push(value);
                }
            }
        }
        for (hit, row) in hits.drain(..).zip(&*rows) {
            if visit(&hit, row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
