//! `scanns eval`: topics and judgements from files, measures as text and JSON, and run files.

use std::collections::BTreeMap;

use super::*;
use crate::trusted::python;

const TOPICS: &str = "1\tgreen apples and green pears\n2\tstone\n3\tnothing of that\n";

const QRELS: &str = "1 0 a 1\n1 0 c 1\n2 0 d 2\n2 0 x 1\n3 0 a 0\n";

fn place() -> Place {
    let texts = [
        ("a.txt", "green apples"),
        ("b.txt", "red apples"),
        ("c.txt", "green pear trees"),
        ("d.txt", "a stone on a stone"),
    ];
    let place = Place::with(&texts);
    place.indexed(&["--analyzer", "english"]);
    place
}

fn eval(place: &Place, more: &[&str]) -> Ran {
    run(scanns(&["eval"]).args(more).current_dir(place.dir.path()))
}

#[test]
fn topics_are_answered_measured_and_written_as_a_run_that_measures_the_same() {
    let place = place();
    std::fs::write(place.dir.path().join("topics"), TOPICS).unwrap();
    std::fs::write(place.dir.path().join("qrels"), QRELS).unwrap();
    let more = [
        "a.scanns",
        "--topics",
        "topics",
        "--qrels",
        "qrels",
        "--docno",
        "stem",
        "--run-out",
        "run",
        "--json",
        "-q",
    ];
    let found = eval(&place, &[&more[..], &["--model", "bm25"]].concat()).json();
    // Topic 1: a and c contain green, which has double weight, and b comes last. Topic 2: d is one of two
    // relevant documents. Topic 3: no document is relevant.
    assert_eq!(
        (&found["num_q"], &found["num_ret"], &found["num_rel_ret"]),
        (&3.into(), &4.into(), &3.into()),
        "{found}"
    );
    assert_eq!(found["topics"]["1"]["map"], 1.0);
    assert_eq!(found["topics"]["2"]["map"], 0.5);
    assert_eq!(found["map"], 0.5);
    let again = eval(&place, &["--run", "run", "--qrels", "qrels", "--json", "-q"]).json();
    assert_eq!(again, found);
    let text = eval(&place, &["--run", "run", "--qrels", "qrels"]);
    assert!(text.text().contains("map                   \tall\t0.5000\n"), "{}", text.text());
    assert!(text.text().contains("num_rel_ret           \tall\t3\n"), "{}", text.text());
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let place = place();
    std::fs::write(place.dir.path().join("topics"), TOPICS).unwrap();
    std::fs::write(place.dir.path().join("bad"), "1 0").unwrap();
    for (args, hint) in [
        (&["--topics", "topics"][..], "NAME.scanns"),
        (&["a.scanns", "--topics", "topics"], "--qrels"),
        (&["a.scanns", "--qrels", "bad"], "--topics"),
        (&["a.scanns", "--topics", "topics", "--qrels", "bad"], "line 1 has 2 words"),
        (&["a.scanns", "--topics", "none", "--run-out", "run"], "cannot read none"),
        (&["a.scanns", "--topics", "topics", "--run-out", "run", "--mu", "5"], "lm-dirichlet"),
        (&["a.scanns", "--topics", "topics", "--run-out", "run", "--field", "x"], "no field 'x'"),
    ] {
        let ran = eval(&place, args);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
}

/// The measures of trec_eval for one topic, as its manual defines them, one document after the other.
fn slow_measures(ranking: &[String], judged: &BTreeMap<String, i64>) -> BTreeMap<String, f64> {
    let grade = |document: &String| judged.get(document).copied().unwrap_or(0).max(0) as f64;
    let relevant = judged.values().filter(|&&grade| grade > 0).count();
    let mut best: Vec<f64> = judged.values().map(|&grade| grade.max(0) as f64).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let dcg = |gains: &[f64]| (0..gains.len()).map(|at| gains[at] / (at as f64 + 2.0).log2()).sum::<f64>();
    let per = |part: f64, of: f64| if of == 0.0 { 0.0 } else { part / of };
    let hits =
        |rank: usize| (0..rank.min(ranking.len())).filter(|&at| grade(&ranking[at]) > 0.0).count() as f64;
    let precisions = |rank: usize| -> f64 {
        (0..rank.min(ranking.len()))
            .filter(|&at| grade(&ranking[at]) > 0.0)
            .map(|at| hits(at + 1) / (at as f64 + 1.0))
            .sum()
    };
    let gains: Vec<f64> = ranking.iter().map(grade).collect();
    let all = relevant as f64;
    let mut values = BTreeMap::from([
        ("num_ret".to_string(), ranking.len() as f64),
        ("num_rel".into(), all),
        ("num_rel_ret".into(), hits(ranking.len())),
        ("map".into(), per(precisions(ranking.len()), all)),
        ("Rprec".into(), per(hits(relevant), all)),
        (
            "recip_rank".into(),
            (1..=ranking.len()).find(|&rank| hits(rank) > 0.0).map_or(0.0, |rank| 1.0 / rank as f64),
        ),
        ("ndcg".into(), per(dcg(&gains), dcg(&best))),
    ]);
    for rank in [5, 10, 30, 100] {
        values.insert(format!("P_{rank}"), hits(rank) / rank as f64);
        values.insert(format!("recall_{rank}"), per(hits(rank), all));
        values.insert(format!("map_cut_{rank}"), per(precisions(rank), all));
        let cut = |gains: &[f64]| dcg(&gains[..rank.min(gains.len())]);
        values.insert(format!("ndcg_cut_{rank}"), per(cut(&gains), cut(&best)));
    }
    values.insert("success_5".into(), hits(5).min(1.0));
    values
}

/// Random judgements and a run with many equal scores, whose ranks are wrong.
struct Collection {
    qrels: String,
    run: String,
    judged: BTreeMap<String, BTreeMap<String, i64>>,
    rankings: BTreeMap<String, Vec<String>>,
}

fn collection(random: &mut fastrand::Rng) -> Collection {
    let mut of = Collection {
        qrels: String::new(),
        run: String::new(),
        judged: BTreeMap::new(),
        rankings: BTreeMap::new(),
    };
    for topic in 0..8 {
        let topic = format!("q.{topic}");
        let names: Vec<String> = (0..200).map(|number| format!("d.{number}.x")).collect();
        let judged = of.judged.entry(topic.clone()).or_default();
        for name in &names {
            let grade = random.i64(-1..12);
            if grade > 3 {
                continue;
            }
            judged.insert(name.clone(), grade);
            of.qrels.push_str(&format!("{topic} 0 {name} {grade}\n"));
        }
        let mut found: Vec<(f32, String)> = Vec::new();
        for name in &names {
            if random.bool() {
                found.push((random.u32(..20) as f32 / 8.0, name.clone()));
            }
        }
        for (rank, (score, name)) in found.iter().enumerate() {
            of.run.push_str(&format!("{topic} Q0 {name} {rank} {score} tag\n"));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)));
        of.rankings.insert(topic, found.into_iter().map(|(_, name)| name).collect());
    }
    of
}

const MEASURES: [&str; 13] = [
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "Rprec",
    "recip_rank",
    "ndcg",
    "P.5,10,30,100",
    "recall.5,10,30,100",
    "map_cut.5,10,30,100",
    "ndcg_cut.5,10,30,100",
    "success.5",
    "num_q",
];

/// What `eval` prints about a run.
fn evaluated(place: &Place) -> Value {
    let mut args = vec!["--run", "run", "--qrels", "qrels", "--json", "-q"];
    args.extend(MEASURES.iter().flat_map(|name| ["-m", name]));
    eval(place, &args).json()
}

#[test]
fn measures_are_those_of_a_slow_routine_and_means_are_over_topics() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let place = Place::new();
    for _ in 0..5 {
        let of = collection(&mut random);
        std::fs::write(place.dir.path().join("qrels"), &of.qrels).unwrap();
        std::fs::write(place.dir.path().join("run"), &of.run).unwrap();
        let found = evaluated(&place);
        let mut sums = BTreeMap::<String, f64>::new();
        for (topic, judged) in &of.judged {
            for (name, expected) in slow_measures(&of.rankings[topic], judged) {
                let value = found["topics"][topic][&name].as_f64().unwrap();
                assert!(
                    (value - expected).abs() < 1e-9,
                    "seed {seed:x} {topic} {name}: {value}, expected {expected}"
                );
                *sums.entry(name).or_default() += expected;
            }
        }
        assert_eq!(found["num_q"], of.judged.len());
        for (name, sum) in sums {
            let expected = if name.starts_with("num_") { sum } else { sum / of.judged.len() as f64 };
            assert!((found[&name].as_f64().unwrap() - expected).abs() < 1e-9, "seed {seed:x} {name}");
        }
    }
}

/// Prints what pytrec_eval computes, as JSON.
const PYTREC_EVAL: &str = "
import json, sys
try:
    import pytrec_eval
except ImportError:
    sys.exit(77)
qrels, run = {}, {}
for line in open('qrels'):
    topic, _, name, grade = line.split()
    qrels.setdefault(topic, {})[name] = int(grade)
for line in open('run'):
    topic, _, name, _, score, _ = line.split()
    run.setdefault(topic, {})[name] = float(score)
print(json.dumps(pytrec_eval.RelevanceEvaluator(qrels, set(sys.argv[1:])).evaluate(run)))
";

#[test]
fn measures_are_those_of_pytrec_eval() {
    let seed = fastrand::u64(..);
    let place = Place::new();
    let of = collection(&mut fastrand::Rng::with_seed(seed));
    std::fs::write(place.dir.path().join("qrels"), &of.qrels).unwrap();
    std::fs::write(place.dir.path().join("run"), &of.run).unwrap();
    let out = Command::new(python())
        .args(["-c", PYTREC_EVAL])
        .args(MEASURES)
        .current_dir(place.dir.path())
        .output();
    let Some(out) = out.ok().filter(|out| out.status.code() != Some(77)) else {
        return skipped("measures_are_those_of_pytrec_eval", "Python has no module pytrec_eval");
    };
    let expected: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out.stderr)));
    let (found, mut compared) = (evaluated(&place), 0);
    for (topic, values) in expected.as_object().unwrap() {
        for (name, value) in values.as_object().unwrap() {
            let (value, own) = (value.as_f64().unwrap(), found["topics"][topic][name].as_f64().unwrap());
            assert!((value - own).abs() < 1e-9, "seed {seed:x} {topic} {name}: {own}, expected {value}");
            compared += 1;
        }
    }
    assert!(compared >= 8 * 20, "{compared}");
}

#[test]
fn records_are_judged_by_their_key_and_files_may_be_compressed() {
    let records: String = (0..30)
        .map(|number| format!("{{\"_id\": \"d.{number}\", \"text\": \"word{number} and other words\"}}\n"))
        .collect();
    let place = Place::with(&[("corpus.jsonl", &records)]);
    place.indexed(&["--records", "jsonl", "--key", "_id"]);
    let write = |name: &str, text: &str| std::fs::write(place.dir.path().join(name), text).unwrap();
    write(
        "queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"word7\"}\n{\"_id\": \"q2\", \"text\": \"word9 word8\"}\n",
    );
    write("test.tsv", "query-id\tcorpus-id\tscore\nq1\td.7\t1\nq2\td.8\t2\nq2\td.1\t1\n");
    let args = ["a.scanns", "--topics", "queries.jsonl", "--qrels", "test.tsv", "--field", "text"];
    let found =
        eval(&place, &[&args[..], &["--json", "-m", "num_rel_ret", "-m", "P_1", "-m", "success.5"]].concat())
            .json();
    assert_eq!((&found["num_rel_ret"], &found["success_5"]), (&2.into(), &1.0.into()), "{found}");
    let zip = |name: &str| {
        Command::new("gzip").arg(place.dir.path().join(name)).status().is_ok_and(|done| done.success())
    };
    if zip("queries.jsonl") && zip("test.tsv") {
        let args = ["a.scanns", "--topics", "queries.jsonl.gz", "--qrels", "test.tsv.gz", "--field", "text"];
        let again = eval(
            &place,
            &[&args[..], &["--json", "-m", "num_rel_ret", "-m", "P_1", "-m", "success.5"]].concat(),
        );
        assert_eq!(again.json(), found, "{}", again.stderr);
    } else {
        skipped("records_are_judged_by_their_key_and_files_may_be_compressed", "gzip is not installed");
    }
}

#[test]
fn a_run_is_written_with_its_name_to_a_file_or_to_standard_output() {
    let place = place();
    std::fs::write(place.dir.path().join("topics"), TOPICS).unwrap();
    let args = ["a.scanns", "--topics", "topics", "--docno", "stem", "--run-tag", "mine"];
    let out = eval(&place, &[&args[..], &["--run-out", "-"]].concat());
    assert!(
        out.text().starts_with("1 Q0 ") && out.text().lines().all(|line| line.ends_with(" mine")),
        "{}",
        out.text()
    );
    std::fs::write(place.dir.path().join("run"), "old").unwrap();
    assert_eq!(eval(&place, &[&args[..], &["--run-out", "run"]].concat()).code, Some(0));
    assert_eq!(std::fs::read_to_string(place.dir.path().join("run")).unwrap(), out.text());
    std::fs::write(place.dir.path().join("qrels"), QRELS).unwrap();
    let both = eval(&place, &[&args[..], &["--run-out", "-", "--qrels", "qrels"]].concat());
    assert!(both.code == Some(2) && both.stderr.contains("standard output"), "{}", both.stderr);
}

#[test]
fn judgements_of_other_documents_or_topics_are_an_error_with_the_first_of_each_side() {
    let place = place();
    let write = |name: &str, text: &str| std::fs::write(place.dir.path().join(name), text).unwrap();
    write("topics", TOPICS);
    write("qrels", QRELS);
    write("run", "1 Q0 zz 1 2.0 x\n");
    for (args, hints) in [
        (
            &["a.scanns", "--topics", "topics"][..],
            ["a.txt'", "the first judged document is 'a'", "--docno stem"],
        ),
        (&["--run", "run"], ["'zz'", "the first judged document is 'a'", "no document of the run"]),
    ] {
        let ran = eval(&place, &[args, &["--qrels", "qrels"]].concat());
        assert_eq!((ran.code, ran.text()), (Some(2), ""), "{}", ran.stderr);
        assert!(hints.iter().all(|hint| ran.stderr.contains(hint)), "{}", ran.stderr);
    }
    write("run", "9 Q0 a 1 2.0 x\n");
    let ran = eval(&place, &["--run", "run", "--qrels", "qrels"]);
    assert!(ran.stderr.contains("the first topic is '9', the first judged topic is '1'"), "{}", ran.stderr);
}
