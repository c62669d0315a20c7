use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::{Task, WorkError, WorkSettings, Workers};

fn workers(threads: usize, waiting: usize) -> Workers {
    Workers::start(WorkSettings { threads, of_one_user: threads, waiting }).unwrap()
}

/// A door that jobs wait at, and a bell that they ring before.
fn door() -> (Sender<()>, Arc<Mutex<Receiver<()>>>) {
    let (open, door) = channel();
    (open, Arc::new(Mutex::new(door)))
}

/// A job that rings and then waits.
fn wait(bell: Sender<()>, door: Arc<Mutex<Receiver<()>>>) -> impl FnOnce(&Task) {
    move |_| {
        bell.send(()).unwrap();
        door.lock().unwrap().recv().unwrap();
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn a_job_runs_on_another_thread_and_returns_its_result() {
    let workers = workers(1, 1);
    let here = std::thread::current().id();
    assert_eq!(workers.run(None, move |_| std::thread::current().id() != here).await, Ok(true));
}

#[tokio::test]
async fn a_panic_fails_its_job_alone() {
    let workers = workers(1, 1);
    for _ in 0..3 {
        assert_eq!(workers.run(None, |_| panic!("a test")).await, Err::<(), _>(WorkError::Panicked));
        assert_eq!(workers.run(None, |_| 7).await, Ok(7));
    }
    assert_eq!(workers.load().panicked, 3);
}

#[tokio::test]
async fn a_job_without_a_place_is_refused_at_once() {
    let workers = workers(1, 1);
    let ((open, door), (bell, began)) = (door(), channel());
    let mut first = pin!(workers.run(None, wait(bell, door)));
    assert!(poll(first.as_mut()).is_pending());
    began.recv().unwrap();
    let mut second = pin!(workers.run(None, |_| 2));
    assert!(poll(second.as_mut()).is_pending());
    let mut fastest = Duration::MAX;
    for _ in 0..100 {
        let begin = Instant::now();
        let refused = workers.run(None, |_| 3).await;
        fastest = fastest.min(begin.elapsed());
        assert!(matches!(refused, Err(WorkError::Busy(wait)) if wait >= Duration::from_secs(1)));
    }
    assert!(fastest < Duration::from_millis(1), "{fastest:?}");
    assert_eq!(workers.load().refused, 100);
    open.send(()).unwrap();
    first.await.unwrap();
    assert_eq!(second.await, Ok(2));
    assert_eq!(workers.run(None, |_| 4).await, Ok(4));
}

#[tokio::test]
async fn a_client_that_goes_leaves_its_place_to_others() {
    let workers = workers(1, 1);
    let ((open, door), (bell, began)) = (door(), channel());
    let mut first = pin!(workers.run(None, wait(bell, door)));
    assert!(poll(first.as_mut()).is_pending());
    began.recv().unwrap();
    {
        let mut gone = pin!(workers.run(None, |_| panic!("nobody wants this")));
        assert!(poll(gone.as_mut()).is_pending());
    }
    let mut second = pin!(workers.run(None, |_| 2));
    assert!(poll(second.as_mut()).is_pending());
    open.send(()).unwrap();
    assert_eq!(second.await, Ok(2));
    assert_eq!(workers.load().panicked, 0);
}

#[tokio::test]
async fn the_budgets_of_a_job_end_when_its_client_goes() {
    let workers = workers(1, 1);
    let ((bell, began), (done, ended)) = (channel(), channel());
    {
        let mut job = pin!(workers.run(None, move |task| {
            let budget = task.budget(Duration::from_secs(3600));
            let leaf = Endless(&budget, bell);
            leaf.search();
            done.send(Instant::now()).unwrap();
        }));
        assert!(poll(job.as_mut()).is_pending());
        began.recv().unwrap();
    }
    let dropped = Instant::now();
    let ended = ended.recv().unwrap();
    // The machine may be busy: the bound of the feature is 10 ms, and only a failure takes seconds.
    assert!(ended.saturating_duration_since(dropped) < Duration::from_secs(2));
    assert_eq!(workers.run(None, |_| 1).await, Ok(1), "its thread is free");
}

/// A query that ends with its budget only.
struct Endless<'b>(&'b scanns::search::Budget, Sender<()>);

impl Endless<'_> {
    fn search(&self) {
        let (_place, snapshot) = super::tests::documents();
        let searcher = snapshot.searcher().within(self.0);
        self.1.send(()).unwrap();
        while !self.0.ran_out() {
            searcher.count(&scanns::Query::All).unwrap();
            searcher.top_k(&scanns::Query::All, scanns::search::Model::Classic, 3).unwrap();
        }
    }
}

fn documents() -> (tempfile::TempDir, scanns::Snapshot) {
    use scanns::schema::{Document, FieldEntry, Schema};
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.scanns");
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text")).unwrap();
    let writer = scanns::Index::create(&path, &schema).unwrap().writer().unwrap();
    for number in 0..100 {
        writer.add(&Document::new(format!("{number}")).text(text, "word")).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = scanns::Snapshot::open(&path).unwrap();
    (place, snapshot)
}

#[tokio::test]
async fn a_user_has_half_of_the_places() {
    let workers = workers(1, 3);
    let user = |name: &str| -> Option<Arc<str>> { Some(name.into()) };
    let ((open, door), (bell, began)) = (door(), channel());
    let mut first = pin!(workers.run(user("anna"), wait(bell, door)));
    assert!(poll(first.as_mut()).is_pending());
    began.recv().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let job = |name: &'static str| {
        let order = Arc::clone(&order);
        move |_: &super::Task| order.lock().unwrap().push(name)
    };
    let mut second = pin!(workers.run(user("anna"), job("anna")));
    assert!(poll(second.as_mut()).is_pending());
    assert!(matches!(workers.run(user("anna"), job("anna")).await, Err(WorkError::Busy(_))));
    let mut ben = pin!(workers.run(user("ben"), job("ben")));
    let mut owner = pin!(workers.run(None, job("owner")));
    assert!(poll(ben.as_mut()).is_pending() && poll(owner.as_mut()).is_pending());
    assert!(matches!(workers.run(None, job("owner")).await, Err(WorkError::Busy(_))));
    // With one thread, nobody has one when the next job is chosen.
    open.send(()).unwrap();
    first.await.unwrap();
    assert_eq!((second.await, ben.await, owner.await), (Ok(()), Ok(()), Ok(())));
    assert_eq!(*order.lock().unwrap(), ["anna", "ben", "owner"]);
}

#[tokio::test]
async fn a_free_thread_is_for_those_who_have_fewer() {
    let workers = workers(2, 8);
    let user = |name: &str| -> Option<Arc<str>> { Some(name.into()) };
    let ((open, door), (bell, began)) = (door(), channel());
    let (close, other_door) = self::door();
    let mut first = pin!(workers.run(user("anna"), wait(bell.clone(), door)));
    let mut second = pin!(workers.run(user("anna"), wait(bell, other_door)));
    assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
    began.recv().unwrap();
    began.recv().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let job = |name: &'static str| {
        let order = Arc::clone(&order);
        move |_: &super::Task| order.lock().unwrap().push(name)
    };
    let mut third = pin!(workers.run(user("anna"), job("anna")));
    let mut ben = pin!(workers.run(user("ben"), job("ben")));
    assert!(poll(third.as_mut()).is_pending() && poll(ben.as_mut()).is_pending());
    open.send(()).unwrap();
    first.await.unwrap();
    assert_eq!((ben.await, third.await), (Ok(()), Ok(())));
    assert_eq!(*order.lock().unwrap(), ["ben", "anna"]);
    close.send(()).unwrap();
    second.await.unwrap();
}
