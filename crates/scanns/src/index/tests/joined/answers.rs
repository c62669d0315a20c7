//! Random questions of every kind, and their answers as text, with keys instead of the places of hits.

use super::*;
use crate::query::BoolQuery;
use crate::schema::ValueRef;

/// A random query of terms, phrases, patterns and values.
pub(super) fn query(snapshot: &Snapshot, random: &mut Rng) -> Query {
    let field = |name: &str| snapshot.schema().field(name).unwrap();
    match random.u32(..6) {
        0 => {
            let low = std::ops::Bound::Included(Value::Unsigned(random.u64(..300)));
            let sizes = ValueRange { field: field("size"), low, high: std::ops::Bound::Unbounded };
            let (must, filter) = (vec![random_query(random, 2)], vec![Query::Values(sizes)]);
            Query::Bool(BoolQuery { must, filter, ..BoolQuery::default() })
        }
        1 => {
            let text = ["size:>100", "owner:o1*", "path:/1/*", "when:<2020", "t1~ owner:o3", "t*"];
            snapshot.parse(text[random.usize(..text.len())], Operator::Or).unwrap()
        }
        _ => random_query(random, 2),
    }
}

pub(super) fn keys(snapshot: &Snapshot, random: &mut Rng) -> Vec<SortKey> {
    let key = |random: &mut Rng| SortKey {
        by: match random.u32(..6) {
            0 => SortBy::Score,
            1 => SortBy::Document,
            _ => {
                let name = ["size", "price", "when", "owner"][random.usize(..4)];
                SortBy::Field(snapshot.schema().field(name).unwrap())
            }
        },
        descending: random.bool(),
        missing: if random.bool() { Missing::First } else { Missing::Last },
    };
    (0..random.usize(1..4)).map(|_| key(random)).collect()
}

pub(super) fn aggregations(snapshot: &Snapshot, random: &mut Rng, levels: usize) -> Vec<Aggregation> {
    let field = |name: &str| snapshot.schema().field(name).unwrap();
    let one = |random: &mut Rng| {
        let number = ["size", "price", "when"][random.usize(..3)];
        let nested = if levels > 0 { aggregations(snapshot, random, levels - 1) } else { Vec::new() };
        let terms = |random: &mut Rng, name: &str| FacetTerms {
            limit: random.usize(..8),
            min_count: random.u64(..3),
            order: if random.bool() { TermsOrder::Count } else { TermsOrder::Term },
            ..FacetTerms::new(field(name))
        };
        match random.u32(..9) {
            0 => Aggregation::Stats { field: field(number), percentiles: vec![50.0, 99.0, 0.0] },
            1 => Aggregation::Stats { field: field(number), percentiles: Vec::new() },
            2 => {
                let name = ["size", "price", "when", "owner"][random.usize(..4)];
                Aggregation::Distinct { field: field(name), exact: random.bool() }
            }
            3 => {
                let prefix = [&b""[..], b"o1", b"x"][random.usize(..3)].to_vec();
                Aggregation::Facet(Facet::Terms(FacetTerms { prefix, ..terms(random, "owner") }), nested)
            }
            4 => Aggregation::Facet(Facet::Terms(terms(random, number)), nested),
            5 => {
                let range = |from: u64, to: u64| FacetRange {
                    label: format!("{from} to {to}"),
                    from: Some(Value::Unsigned(from)),
                    to: (to > 0).then_some(Value::Unsigned(to)),
                };
                let ranges = vec![range(0, 100), range(50, 300), range(900, 0)];
                Aggregation::Facet(Facet::Ranges { field: field("size"), ranges }, nested)
            }
            6 => {
                let (interval, offset) = (random.f64() * 3.0 + 0.1, random.f64());
                Aggregation::Facet(Facet::Histogram { field: field("price"), interval, offset }, nested)
            }
            7 => {
                let unit = [CalendarUnit::Month, CalendarUnit::Week, CalendarUnit::Day][random.usize(..3)];
                Aggregation::Facet(Facet::Calendar { field: field("when"), unit }, nested)
            }
            _ => {
                let below = [&b""[..], b"/", b"/1/"][random.usize(..3)].to_vec();
                let facet = Facet::Path { field: field("path"), below, limit: random.usize(..5) };
                Aggregation::Facet(facet, nested)
            }
        }
    };
    (0..random.usize(1..4)).map(|_| one(random)).collect()
}

pub(super) fn groups(snapshot: &Snapshot, random: &mut Rng) -> GroupBy {
    let name = ["owner", "owner", "size", "when", "path"][random.usize(..5)];
    GroupBy {
        field: snapshot.schema().field(name).unwrap(),
        keys: if random.bool() { Vec::new() } else { keys(snapshot, random) },
        groups: random.usize(..6),
        hits: random.usize(..4),
        missing: random.bool(),
    }
}

fn named(snapshot: &Snapshot, hit: &Hit) -> String {
    format!("{} {:08x}", String::from_utf8(snapshot.key(hit).unwrap()).unwrap(), hit.score.to_bits())
}

fn all_named(snapshot: &Snapshot, hits: &[Hit]) -> String {
    hits.iter().map(|hit| named(snapshot, hit)).collect::<Vec<_>>().join(", ")
}

fn sorted(snapshot: &Snapshot, hits: &[SortedHit]) -> String {
    let one = |found: &SortedHit| format!("{} {:?}", named(snapshot, &found.hit), found.keys);
    hits.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The answers to a random query in every form.
pub(super) fn all(snapshot: &Snapshot, random: &mut Rng) -> Vec<String> {
    let searcher = snapshot.searcher();
    let query = query(snapshot, random);
    let model = MODELS[random.usize(..MODELS.len())];
    let mut said = vec![format!("{query:?} by {model:?}")];
    let Ok(prepared) = searcher.prepare(&query) else { return said };
    let k = random.usize(1..12);
    let Ok(best) = prepared.top_k(model, k) else { return said };
    said.push(format!("best {}", all_named(snapshot, &best)));
    said.push(format!("count {}", prepared.count().unwrap()));
    if let Some(&last) = best.last() {
        let next = prepared.top_k_after(model, k, last).unwrap();
        said.push(format!("next {}", all_named(snapshot, &next)));
        let explained = prepared.explain(model, &best[0]).unwrap().unwrap();
        said.push(format!("explained {} {:08x}", explained.description, explained.value.to_bits()));
        let like = snapshot.like(&best[0], snapshot.default_field(), &MoreLikeThis::default());
        said.push(format!("like {like:?}"));
    }
    let by = keys(snapshot, random);
    let first = prepared.top_k_sorted(model, &by, k, None).unwrap();
    said.push(format!("sorted {by:?} {}", sorted(snapshot, &first)));
    if let Some(last) = first.last() {
        let next = prepared.top_k_sorted(model, &by, k, Some(last)).unwrap();
        said.push(format!("sorted next {}", sorted(snapshot, &next)));
    }
    let order = if random.bool() { KeyOrder::Ascending } else { KeyOrder::Descending };
    let page = KeyPage { order, limit: k, after: None };
    let by_key = prepared.top_by_key(model, page, |_| ()).unwrap();
    said.push(format!("by key {:?}", by_key.iter().map(|one| (&one.key, one.hit.score)).collect::<Vec<_>>()));
    let asked = aggregations(snapshot, random, 2);
    said.push(format!("{asked:?} {:?}", prepared.aggregate(&asked).unwrap()));
    let by = groups(snapshot, random);
    let found = prepared.top_groups(model, &by).unwrap();
    let mut text = format!("groups {by:?} {} {}", found.total, found.missing);
    for group in &found.groups {
        write!(text, "; {:?} {} {}", group.value, group.count, sorted(snapshot, &group.hits)).unwrap();
    }
    said.push(text);
    others(snapshot, &query, model, random, &mut said);
    said
}

/// Suggestions, terms, expansions, and all hits with their values.
fn others(snapshot: &Snapshot, query: &Query, model: Model, random: &mut Rng, said: &mut Vec<String>) {
    let searcher = snapshot.searcher();
    said.push(format!("suggested {:?}", searcher.suggest(query, random.u64(..9), 3).unwrap()));
    let prefix = ["", "t", "u1"][random.usize(..3)].as_bytes();
    said.push(format!("{} terms, {:?}", snapshot.unique_terms().unwrap(), searcher.stats().unwrap()));
    said.push(format!("terms {:?}", searcher.frequent_terms(prefix, 5, |_| ()).unwrap()));
    said.push(format!("first terms {:?}", snapshot.terms(prefix, 5).unwrap()));
    let rm3 = Rm3 { documents: random.usize(1..5), common: 0.9, ..Rm3::default() };
    said.push(format!("expanded {:?}", snapshot.expand(query, snapshot.default_field(), model, &rm3)));
    let options = BatchOptions { rows: random.usize(1..50), model: Some(model), ..BatchOptions::default() };
    let found = rows(snapshot.schema(), |fields, visit| {
        snapshot.for_each_batch(query, fields, &options, visit).unwrap();
    });
    said.push(format!("rows {}", found.join("; ")));
}

/// The statistics of columns.
pub(super) fn columns(snapshot: &Snapshot) -> String {
    let column_info = snapshot.columns().unwrap();
    let shown =
        column_info.iter().map(|one| (one.documents, one.values, &one.least, &one.greatest, one.distinct));
    format!("columns {:?}", shown.collect::<Vec<_>>())
}

/// The scores and values of all documents that `read` reads in batches, with all fields of a schema.
pub(super) fn rows(schema: &Schema, read: impl FnOnce(&[BatchField], &mut BatchVisit<'_>)) -> Vec<String> {
    let fields: Vec<BatchField> = std::iter::once(BatchField::Key)
        .chain(schema.fields().map(|(field, _)| BatchField::Values(field)))
        .collect();
    let mut rows = Vec::new();
    read(&fields, &mut |batch| {
        for row in 0..batch.docs.len() {
            let score = batch.scores.get(row).map_or(0, |score| score.to_bits());
            let values: Vec<Vec<ValueRef<'_>>> =
                batch.columns.iter().map(|column| column.values(row).collect()).collect();
            rows.push(format!("{score:08x} {values:?}"));
        }
        Ok(ControlFlow::Continue(()))
    });
    rows
}

/// A random question that shards can answer; `None` for a query that is refused.
pub(super) fn question(snapshot: &Snapshot, random: &mut Rng) -> Option<ShardQuery> {
    let (query, model) = (query(snapshot, random), MODELS[random.usize(..MODELS.len())]);
    snapshot.searcher().prepare(&query).ok()?.top_k(model, 1).ok()?;
    let order = match random.u32(..4) {
        0 => ShardOrder::Fields(keys(snapshot, random)),
        1 => ShardOrder::Key(if random.bool() { KeyOrder::Ascending } else { KeyOrder::Descending }),
        _ => ShardOrder::Score,
    };
    Some(ShardQuery {
        model,
        order,
        k: random.usize(..9),
        skip: [0, 0, 3, 40][random.usize(..4)],
        count: random.bool(),
        aggregations: if random.bool() { aggregations(snapshot, random, 2) } else { Vec::new() },
        groups: if random.u32(..3) == 0 { Some(groups(snapshot, random)) } else { None },
        show: ShardShow {
            content: random.bool(),
            explain: random.bool(),
            snippets: random.bool().then(|| ShardSnippets {
                field: snapshot.default_field(),
                options: SnippetOptions { length: 30, ..SnippetOptions::default() },
            }),
        },
        fields: if random.bool() {
            Vec::new()
        } else {
            snapshot.schema().fields().map(|one| one.0).collect()
        },
        ..ShardQuery::new(query, 0)
    })
}

/// The answer of a single index.
pub(super) fn expected(snapshot: &Snapshot, asked: &ShardQuery) -> Vec<String> {
    let searcher = snapshot.searcher();
    let prepared = searcher.prepare(&asked.query).unwrap();
    let plain = |hit: Hit| SortedHit { hit, keys: Vec::new() };
    let most = if asked.k == 0 { 0 } else { asked.skip + asked.k };
    let mut hits: Vec<SortedHit> = match &asked.order {
        ShardOrder::Score => prepared.top_k(asked.model, most).unwrap().into_iter().map(plain).collect(),
        ShardOrder::Fields(keys) => prepared.top_k_sorted(asked.model, keys, most, None).unwrap(),
        ShardOrder::Key(order) => {
            let page = KeyPage { order: *order, limit: most, after: None };
            let found = prepared.top_by_key(asked.model, page, |_| ()).unwrap();
            found.into_iter().map(|found| plain(found.hit)).collect()
        }
    };
    hits.drain(..asked.skip.min(hits.len()));
    let one = |hit: &SortedHit| {
        let values = if asked.fields.is_empty() {
            Vec::new()
        } else {
            snapshot.field_values(&hit.hit, &asked.fields).unwrap()
        };
        let key = String::from_utf8(snapshot.key(&hit.hit).unwrap()).unwrap();
        format!("{key} {:08x} {:?} {values:?}", hit.hit.score.to_bits(), hit.keys)
    };
    let mut said = vec![hits.iter().map(one).collect::<Vec<_>>().join(", ")];
    said.push(format!("{:?}", asked.count.then(|| prepared.count().unwrap())));
    said.push(format!("{:?}", prepared.aggregate(&asked.aggregations).unwrap()));
    let mut texts = asked
        .show
        .snippets
        .map(|snippets| snapshot.highlighter(snippets.field, &asked.query, snippets.options).unwrap());
    for hit in &hits {
        let content = asked.show.content.then(|| snapshot.document(&hit.hit).unwrap()).flatten();
        let explained =
            asked.show.explain.then(|| prepared.explain(asked.model, &hit.hit).unwrap()).flatten();
        let explained = explained.map(|explained| explained.value.to_bits());
        let snippets = texts.as_mut().and_then(|highlighter| {
            snapshot.snippets(&hit.hit, snapshot.default_field(), highlighter).unwrap()
        });
        said.push(format!("{content:?} {explained:?} {snippets:?}"));
    }
    if let Some(by) = &asked.groups {
        let found = prepared.top_groups(asked.model, by).unwrap();
        said.push(format!("{} {}", found.total, found.missing));
        let group = |group: &crate::search::aggregate::Group| {
            let hits: Vec<String> = group.hits.iter().map(one).collect();
            format!("{:?} {} {hits:?}", group.value, group.count)
        };
        said.extend(found.groups.iter().map(group));
    }
    said
}

/// The answer of shards, in the same form.
pub(super) fn shown(found: &ShardAnswer) -> Vec<String> {
    assert!(found.missing.is_empty() && !found.is_cut);
    let one = |hit: &ShardHit| {
        let key = String::from_utf8(hit.key.clone()).unwrap();
        format!("{key} {:08x} {:?} {:?}", hit.hit.score.to_bits(), hit.keys, hit.values)
    };
    let mut said = vec![found.hits.iter().map(one).collect::<Vec<_>>().join(", ")];
    said.push(format!("{:?}", found.count));
    said.push(format!("{:?}", found.aggregated));
    for ShardShown { content, explanation, snippets, problem } in found.hits.iter().map(|hit| &hit.shown) {
        assert_eq!(*problem, None);
        let value = |text: &str| text.split(' ').next().unwrap().parse::<f32>().unwrap().to_bits();
        let explained = explanation.as_deref().map(value);
        said.push(format!("{content:?} {explained:?} {snippets:?}"));
    }
    if let Some(groups) = &found.groups {
        said.push(format!("{} {}", groups.total, groups.missing));
        let group = |group: &crate::index::shards::ShardGroup| {
            let hits: Vec<String> = group.hits.iter().map(one).collect();
            format!("{:?} {} {hits:?}", group.value, group.count)
        };
        said.extend(groups.groups.iter().map(group));
    }
    said
}
