//! What users find: an index as a user sees it answers as an index that this user has built.

use std::os::unix::fs::chown;

use super::kernel::as_user;
use super::*;
use crate::query::Operator;
use crate::search::aggregate::{Aggregation, Facet, FacetTerms, GroupBy};
use crate::search::{KeyOrder, KeyPage, Missing, Model, MoreLikeThis, SortBy, SortKey};
use crate::segment::VisibleDocs;

/// Builds an index as a user; false if it cannot be built.
pub fn build_as(user: &AccessUser, index: &Path, options: &IndexOptions) -> bool {
    let place = index.parent().unwrap();
    fs::create_dir_all(place).unwrap();
    chown(place, Some(user.uid()), Some(user.gid())).unwrap();
    as_user(user, || run(index, options).is_ok())
}

/// A random query.
fn query(random: &mut Rng, root: &str) -> String {
    let name = |random: &mut Rng| format!("n{}", random.usize(..400));
    let one = |random: &mut Rng| match random.u32(..14) {
        0 => "*".to_owned(),
        1 => format!("owner:{}", tree::number(random)),
        2 => format!("uid:>{}", tree::number(random)),
        3 => format!("name:n{}*", random.usize(1..40)),
        4 => format!("type:{}", random.choice(["file", "directory", "link", "fifo"]).unwrap()),
        5 => format!("path:{root}/{}", name(random)),
        6 => format!("size:>{}", random.usize(20..90)),
        7 => format!("mode:{:04o}", random.choice([0o644, 0o755, 0o700, 0o040]).unwrap()),
        8 => format!("NOT group:{}", tree::number(random)),
        9 => format!("n{}*", random.usize(1..40)),
        10 => format!("{}~1", name(random)),
        11 => format!("{} AND {}", name(random), name(random)),
        _ => format!("{} {} root", name(random), name(random)),
    };
    let parts: Vec<String> = (0..random.usize(1..4)).map(|_| one(random)).collect();
    parts.join(" ")
}

/// The answers to random questions, in an order that does not depend on how an index was built.
fn answers(snapshot: &Snapshot, root: &Path, random: &mut Rng) -> Vec<String> {
    let root = root.to_str().unwrap();
    let text = query(random, root);
    let mut said = vec![text.clone()];
    let query = match snapshot.parse(&text, Operator::Or) {
        Ok(query) => query,
        Err(error) => return vec![error.to_string()],
    };
    let field = |name: &str| snapshot.schema().field(name).unwrap();
    let searcher = snapshot.searcher();
    let prepared = match searcher.prepare(&query) {
        Ok(prepared) => prepared,
        Err(error) => return vec![error.to_string()],
    };
    let model = [Model::default(), Model::Classic][random.usize(..2)];
    let mut hits: Vec<(Vec<u8>, u32)> = prepared
        .top_k(model, 100_000)
        .unwrap()
        .iter()
        .map(|hit| (snapshot.key(hit).unwrap(), hit.score.to_bits()))
        .collect();
    hits.sort();
    said.push(format!("{} {hits:x?}", prepared.count().unwrap()));
    let page = KeyPage { order: KeyOrder::Descending, limit: 7, after: None };
    let by_key = prepared.top_by_key(model, page, |_| ()).unwrap();
    said.push(format!("{:?}", by_key.iter().map(|found| &found.key).collect::<Vec<_>>()));
    if let Some(first) = by_key.first() {
        let explained = prepared.explain(model, &first.hit).unwrap().unwrap().to_string();
        // Which documents share a segment depends on the build.
        said.extend(explained.lines().filter(|line| !line.contains("in this segment")).map(str::to_owned));
        let like = snapshot.like(&first.hit, snapshot.default_field(), &MoreLikeThis::default());
        said.push(format!("{like:?}"));
    }
    let of = |by| SortKey { by, descending: false, missing: Missing::Last };
    let name = *random.choice(&["size", "owner", "mtime", "mode", "ext"]).unwrap();
    let keys = [of(SortBy::Field(field(name))), of(SortBy::Field(field("inode")))];
    let sorted = prepared.top_k_sorted(model, &keys, 9, None).unwrap();
    said.push(format!("{:?}", sorted.iter().map(|found| &found.keys).collect::<Vec<_>>()));
    let facet = |name: &str| FacetTerms { limit: 1_000, ..FacetTerms::new(field(name)) };
    let below = Facet::Path { field: field("path"), below: format!("{root}/").into_bytes(), limit: 1_000 };
    let asked = [
        Aggregation::Facet(
            Facet::Terms(facet("owner")),
            vec![Aggregation::Stats { field: field("size"), percentiles: vec![50.0] }],
        ),
        Aggregation::Facet(Facet::Terms(facet("gid")), Vec::new()),
        Aggregation::Facet(below, Vec::new()),
        Aggregation::Distinct { field: field("inode"), exact: true },
    ];
    said.push(format!("{:?}", prepared.aggregate(&asked).unwrap()));
    let by = GroupBy { field: field("owner"), keys: keys.to_vec(), groups: 50, hits: 2, missing: true };
    let found = prepared.top_groups(model, &by).unwrap();
    let mut groups: Vec<String> = found
        .groups
        .iter()
        .map(|group| {
            let keys: Vec<_> = group.hits.iter().map(|hit| &hit.keys).collect();
            format!("{:?} {} {keys:?}", group.value, group.count)
        })
        .collect();
    groups.sort();
    said.push(format!("{} {} {groups:?}", found.total, found.missing));
    said.push(format!("{:?}", searcher.suggest(&query, 9, 3).unwrap()));
    let prefix = ["", "n1", "n2"][random.usize(..3)].as_bytes();
    said.push(format!("{:?}", searcher.frequent_terms(prefix, 9, |_| ()).unwrap()));
    said.push(format!("{:?} {:?}", snapshot.unique_terms().unwrap(), searcher.stats().unwrap()));
    said
}

/// A view that shows nothing but what can be read.
fn readable(whole: &Snapshot, user: &AccessUser) -> Snapshot {
    let visible = whole.visible_to(user).unwrap();
    whole
        .seen_by(&visible.into_iter().map(|docs| VisibleDocs::whole(docs.contents)).collect::<Vec<_>>())
        .unwrap()
}

/// A view of everything, which reads entries as other views do.
fn as_view(own: &Snapshot) -> Snapshot {
    let all = own.document_numbers().into_iter().map(crate::segment::DocBits::all);
    own.seen_by(&all.map(VisibleDocs::whole).collect::<Vec<_>>()).unwrap()
}

/// Lets everybody into most directories, so that users see more than the top of the tree.
fn open_most(directory: &Path, random: &mut Rng) {
    if random.u8(..10) > 0 {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            open_most(&path, random);
        }
    }
}

fn compare_answers(names_only: bool, random: &mut Rng) {
    let (entries, users, questions) = if is_long() { (12_000, 40, 60) } else { (1_200, 8, 25) };
    let place = open_place();
    let at = |name: &str| place.path().join(name);
    let (root, index) = (at("root"), at("x.scanns"));
    fs::create_dir(&root).unwrap();
    tree::make(&root, entries, random);
    open_most(&root, random);
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    let options = with_access(&root, names_only);
    run(&index, &options).unwrap();
    let whole = Snapshot::open(&index).unwrap();
    let (mut compared, mut visible) = (0, 0);
    for number in 0..users {
        let user = random_user(random);
        let own = at(&format!("of{number}")).join("own.scanns");
        let is_built = build_as(&user, &own, &options);
        let seen = if names_only { whole.seen_as(&user).unwrap() } else { readable(&whole, &user) };
        visible += seen.info().documents;
        if !is_built {
            assert_eq!(seen.info().documents, 0, "{user:?} may see something, but could not build an index");
            continue;
        }
        let own = as_view(&Snapshot::open(&own).unwrap());
        for _ in 0..questions {
            let question = random.u64(..);
            let asked = |snapshot: &Snapshot| answers(snapshot, &root, &mut Rng::with_seed(question));
            assert_eq!(asked(&seen), asked(&own), "{user:?} question {question}");
            compared += 1;
        }
        if !names_only {
            has_texts_of_nobody_else(&whole, &seen, &user, random);
        }
    }
    println!("{compared} questions, {visible} visible documents of {users} users");
    assert!(compared > 0 && visible > 0);
}

/// With the names of files that cannot be read, texts are found as without them.
fn has_texts_of_nobody_else(whole: &Snapshot, readable: &Snapshot, user: &AccessUser, random: &mut Rng) {
    let seen = whole.seen_as(user).unwrap();
    for _ in 0..20 {
        let text = format!("n{} n{}*", random.usize(..400), random.usize(1..40));
        let found = |snapshot: &Snapshot| -> Vec<(Vec<u8>, u32)> {
            let query = snapshot.parse(&text, Operator::Or).unwrap();
            let hits = snapshot.searcher().top_k(&query, Model::default(), 100_000).unwrap();
            hits.iter().map(|hit| (snapshot.key(hit).unwrap(), hit.score.to_bits())).collect()
        };
        assert_eq!(found(&seen), found(readable), "{user:?} {text}");
    }
}

#[test]
fn an_index_as_a_user_sees_it_answers_as_one_of_his_own() {
    if !can_run("an_index_as_a_user_sees_it_answers_as_one_of_his_own") {
        return;
    }
    let mut random = Rng::with_seed(seed());
    compare_answers(true, &mut random);
    compare_answers(false, &mut random);
}
