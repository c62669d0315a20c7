//! The best hits by scores that a program computes from columns.

use std::ops::ControlFlow;

use super::parallel::LeafRange;
use super::prepared::PreparedQuery;
use super::run::RunQuery;
use super::similarity::Model;
use super::top_k::{Hit, TopK};
use crate::column::{Column, FoundBlock, find_blocks};
use crate::error::Result;
use crate::schema::Field;
use crate::search::exec::strategy::Want;
use crate::search::exec::value_scorer::must_be_number;

impl PreparedQuery<'_, '_, '_> {
    /// Finds the best `k` hits by scores that `score` computes: from the score under the model, and from a
    /// number of the document in each of `fields`, in their order. These are the least of the values that the
    /// document has there, dates in nanoseconds since 1970 and booleans as 0 and 1; `None` without a value.
    ///
    /// Hits are sorted as by [`PreparedQuery::top_k`]. A score that is not a number is worse than all others.
    /// Every match is scored; [`Query::Scored`](crate::Query::Scored) has the usual formulas, and reads fewer
    /// values.
    ///
    /// ```
    /// use scanns::schema::{Document, FieldEntry, FieldKind, Schema, Value};
    /// use scanns::search::Model;
    /// use scanns::{Index, Query};
    ///
    /// # fn main() -> scanns::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// # let path = place.path().join("shop.scanns");
    /// let mut schema = Schema::new();
    /// let text = schema.add(FieldEntry::text("text"))?;
    /// let price = schema.add(FieldEntry::new("price", FieldKind::Float).column())?;
    /// let stock = schema.add(FieldEntry::new("stock", FieldKind::Unsigned).column())?;
    /// let writer = Index::create(&path, &schema)?.writer()?;
    /// for (key, of_price, of_stock) in [("a", 9.5, 0), ("b", 12.0, 7), ("c", 11.0, 3)] {
    ///     let document = Document::new(key).text(text, "red lamp");
    ///     writer.add(&document.with(price, Value::Float(of_price)).with(stock, Value::Unsigned(of_stock)))?;
    /// }
    ///
    /// let snapshot = writer.snapshot()?;
    /// let (searcher, lamp) = (snapshot.searcher(), Query::term(text, "lamp"));
    /// // The cheapest that can be had.
    /// let hits = searcher.prepare(&lamp)?.top_k_by(Model::default(), 10, &[price, stock], |score, numbers| {
    ///     let [price, stock] = numbers else { return 0.0 };
    ///     if stock.unwrap_or(0.0) > 0.0 { score / price.unwrap_or(f64::MAX) as f32 } else { 0.0 }
    /// })?;
    /// assert_eq!(snapshot.key(&hits[0])?, b"c");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::top_k`], and [`Error::Unsupported`](crate::Error::Unsupported) for a
    /// column without numbers.
    pub fn top_k_by(
        &self,
        model: Model,
        k: usize,
        fields: &[Field],
        score: impl Fn(f32, &[Option<f64>]) -> f32 + Sync,
    ) -> Result<Vec<Hit>> {
        model.check()?;
        if k == 0 {
            return Ok(Vec::new());
        }
        let ranges = self.ranges(Want::All);
        let mut best = Vec::new();
        self.run(model, &mut |run| {
            best = ranges.fold(
                self.fields().clock(),
                || TopK::new(k),
                |top, range| {
                    top.set_leaf(range.leaf);
                    self.score_range(range, run.in_range, fields, |doc, of_model, numbers| {
                        let score = score(of_model, numbers);
                        top.push(doc, if score.is_nan() { f32::NEG_INFINITY } else { score });
                    })
                },
            )?;
            Ok(())
        })?;
        Ok(TopK::merge(best, k))
    }

    /// Calls `visit` with each hit of a range, its score, and its numbers in the fields.
    fn score_range(
        &self,
        range: &LeafRange,
        run: &RunQuery,
        fields: &[Field],
        mut visit: impl FnMut(u32, f32, &[Option<f64>]),
    ) -> Result<ControlFlow<()>> {
        let columns = fields.iter().map(|&field| self.searcher.column_in(range.leaf, field));
        let mut columns: Vec<_> = columns.map(NumberReader::new).collect::<Result<_>>()?;
        let (mut row, mut outcome) = (Vec::with_capacity(fields.len()), Ok(()));
        let flow = self.live(range, run, &mut |docs, scores| {
            outcome = columns.iter_mut().try_for_each(|column| column.read(docs));
            if outcome.is_err() {
                return ControlFlow::Break(());
            }
            for (at, (&doc, &score)) in docs.iter().zip(scores).enumerate() {
                row.clear();
                row.extend(columns.iter().map(|column| column.numbers.get(at).copied().flatten()));
                visit(doc, score, &row);
            }
            ControlFlow::Continue(())
        })?;
        outcome.map(|()| flow)
    }
}

/// Reads the numbers of documents, block by block.
struct NumberReader<'a> {
    /// `None` if no document has a value.
    column: Option<&'a Column>,
    blocks: Vec<FoundBlock>,
    orders: Vec<u64>,
    /// The numbers of the documents that were read last.
    numbers: Vec<Option<f64>>,
}

impl<'a> NumberReader<'a> {
    fn new(column: Option<&'a Column>) -> Result<Self> {
        column.map_or(Ok(()), |column| must_be_number(column.kind()))?;
        Ok(NumberReader { column, blocks: Vec::new(), orders: Vec::new(), numbers: Vec::new() })
    }

    /// Reads the numbers of ascending documents.
    fn read(&mut self, docs: &[u32]) -> Result<()> {
        self.numbers.clear();
        let Some(column) = self.column else {
            self.numbers.resize(docs.len(), None);
            return Ok(());
        };
        let (mut found, mut read) = (0, 0);
        while read < docs.len() {
            self.blocks.clear();
            find_blocks(column, docs, &mut found, &mut self.blocks)?;
            for &FoundBlock { number, ref entry, end } in &self.blocks {
                let here = docs.get(read..end).unwrap_or_default();
                read = end;
                self.orders.clear();
                if entry.is_plain() {
                    column.pick(number, entry, here, &mut self.orders)?;
                    self.numbers
                        .extend(self.orders.iter().map(|&order| Some(column.kind().number_of(order))));
                    continue;
                }
                let block = column.block(number)?;
                for &doc in here {
                    let least = block.first(doc).map_err(|_| column.damaged(number))?;
                    self.numbers.push(least.map(|order| column.kind().number_of(order)));
                }
            }
        }
        Ok(())
    }
}
