//! Generates the fetches of a web archive, to measure columns with. The same seed gives the same fetches.
//!
//! A document is one fetch of an address; see [`Fetch`]. It also has tags, by which queries select documents.
//! Every term such as `h3_07` is in exactly 10^3 documents, spread evenly, and `all` is in every document.
//! [`Tags`] defines the terms.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Documents per host, on average; few hosts have many pages.
const PAGES_OF_HOST: u32 = 40;

const SUFFIXES: [&str; 8] = ["dk", "com", "org", "net", "eu", "co.uk", "info", "se"];
const TYPES: [&str; 6] =
    ["text/html", "image/jpeg", "text/css", "application/pdf", "image/png", "text/plain"];
const STATUS: [u64; 5] = [200, 301, 302, 404, 500];
const LANGUAGES: [&str; 7] = ["da", "en", "de", "sv", "no", "fr", "es"];

/// One second in the unit of dates.
const SECOND: i64 = 1_000_000_000;

/// Hits of the term [`EXPORT`], as in the article on jump tables (LUCENE-8585), if there are at least twice
/// as many documents.
const EXPORTED: u32 = 52_653;

/// The term of the documents that are exported.
pub const EXPORT: &str = "export";

/// The term of all documents.
pub const ALL: &str = "all";

/// The number of terms for each number of hits, from 10^0 to 10^7.
const TERMS: [u32; 8] = [20, 20, 20, 20, 20, 20, 5, 3];

/// One fetch of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Its number.
    pub number: u32,
    /// 16 hexadecimal digits, unique.
    pub id: String,
    /// The normalized address; every twentieth has been fetched before.
    pub url_norm: String,
    /// Host of the address.
    pub host: String,
    /// Domain of the host.
    pub domain: String,
    /// Public suffix of the domain.
    pub public_suffix: &'static str,
    /// Year of the crawl, which may differ from the year of its date.
    pub crawl_year: u64,
    /// When it was fetched: nanoseconds since 1970, whole seconds.
    pub crawl_date: i64,
    /// Type of the content.
    pub content_type_norm: &'static str,
    /// Status of the answer.
    pub status_code: u64,
    /// Length of the content in bytes; most contents are short.
    pub content_length: u64,
    /// Language of the content.
    pub language: &'static str,
    /// Terms that select documents.
    pub tags: Vec<String>,
}

/// All fetches of an archive, one after the other.
#[derive(Debug)]
pub struct Archive {
    count: u32,
    next: u32,
    random: fastrand::Rng,
    tags: Tags,
}

impl Archive {
    /// An archive with this number of documents.
    pub fn new(count: u32, seed: u64) -> Self {
        Archive { count, next: 0, random: fastrand::Rng::with_seed(seed), tags: Tags::new(count, seed) }
    }
}

impl Iterator for Archive {
    type Item = Fetch;

    fn next(&mut self) -> Option<Fetch> {
        if self.next >= self.count {
            return None;
        }
        let tags = self.tags.of(self.next);
        let fetch = fetch(self.next, self.count, &mut self.random, tags);
        self.next += 1;
        Some(fetch)
    }
}

/// A number below `most`; small numbers are far more frequent.
fn skewed(random: &mut fastrand::Rng, most: u32) -> u32 {
    let product = u64::from(random.u32(..most)) * u64::from(random.u32(..most));
    u32::try_from(product / u64::from(most)).unwrap_or(0)
}

/// An element of a list; the first ones are far more frequent.
fn one_of<T: Copy>(random: &mut fastrand::Rng, of: &[T]) -> T {
    of[skewed(random, u32::try_from(of.len()).unwrap_or(1)) as usize]
}

fn fetch(number: u32, count: u32, random: &mut fastrand::Rng, tags: Vec<String>) -> Fetch {
    let hosts = (count / PAGES_OF_HOST).max(1);
    let host_number = skewed(random, hosts);
    let public_suffix = SUFFIXES[(host_number % 97 % 8) as usize];
    let domain = format!("site{:x}.{public_suffix}", host_number.wrapping_mul(0x9e37_79b1) >> 4);
    let host = if host_number.is_multiple_of(3) { domain.clone() } else { format!("www.{domain}") };
    // Every twentieth address has been fetched before.
    let page = if random.u32(..20) == 0 { random.u32(..1 + number / 20) } else { number };
    let url_norm =
        format!("http://{host}/{}/{:06x}/page{}.html", page % 31, page.wrapping_mul(0x85eb_ca6b) >> 8, page);
    let second = 1_104_537_600 + i64::from(number) * 20 + random.i64(0..86_400);
    Fetch {
        number,
        id: format!("{:016x}", u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        url_norm,
        host,
        domain,
        public_suffix,
        crawl_year: 2005 + u64::from(number / (count / 15 + 1)),
        crawl_date: second * SECOND,
        content_type_norm: one_of(random, &TYPES),
        language: one_of(random, &LANGUAGES),
        status_code: one_of(random, &STATUS),
        content_length: 2_000_000_000 / (1 + random.u64(..1_000_000)),
        tags,
    }
}

/// Terms that have a given number of hits.
///
/// The documents are divided into one stretch for each hit, and one document is drawn from each stretch. The
/// number of hits is therefore exact, the documents come in order, and no memory is needed for them.
#[derive(Debug)]
pub struct Tags {
    count: u32,
    drawn: Vec<Drawn>,
    /// The next document of each term.
    next: BinaryHeap<Reverse<(u32, usize)>>,
}

#[derive(Debug)]
struct Drawn {
    term: String,
    hits: u32,
    done: u32,
    random: fastrand::Rng,
}

impl Tags {
    /// Creates the tags of an archive.
    pub fn new(count: u32, seed: u64) -> Self {
        let exported = (EXPORT.to_owned(), EXPORTED.min(count / 2));
        let mut terms: Vec<(String, u32)> = Self::decades(count)
            .into_iter()
            .flat_map(|(hits, terms)| terms.into_iter().map(move |term| (term, hits)))
            .collect();
        terms.retain(|(term, _)| term != ALL);
        terms.push(exported);
        let mut tags = Tags { count, drawn: Vec::new(), next: BinaryHeap::new() };
        for ((term, hits), place) in terms.into_iter().zip(0..) {
            let random = fastrand::Rng::with_seed(seed ^ (0x7a67 + place as u64) << 20);
            tags.drawn.push(Drawn { term, hits, done: 0, random });
            tags.draw(place);
        }
        tags
    }

    /// Numbers of hits, each with the terms that have this number; the last is the number of all documents.
    pub fn decades(count: u32) -> Vec<(u32, Vec<String>)> {
        let decades = TERMS.iter().zip(0u32..).map(|(&terms, decade)| (decade, 10u32.pow(decade), terms));
        let named = |(decade, hits, terms): (u32, u32, u32)| {
            (hits, (0..terms).map(|term| format!("h{decade}_{term:02}")).collect())
        };
        let fewer = decades.filter(|&(_, hits, _)| hits <= count / 2).map(named);
        fewer.chain([(count, vec![ALL.to_owned()])]).collect()
    }

    /// Draws the next document of a term, if there is one.
    fn draw(&mut self, place: usize) {
        let Some(drawn) = self.drawn.get_mut(place).filter(|drawn| drawn.done < drawn.hits) else { return };
        let edge = |hit: u32| {
            let at = u64::from(hit) * u64::from(self.count) / u64::from(drawn.hits);
            u32::try_from(at).unwrap_or(self.count)
        };
        let stretch = edge(drawn.done)..edge(drawn.done + 1);
        drawn.done += 1;
        self.next.push(Reverse((drawn.random.u32(stretch), place)));
    }

    /// The terms of a document. Documents must be passed in ascending order.
    fn of(&mut self, number: u32) -> Vec<String> {
        let mut tags = vec![ALL.to_owned()];
        while let Some(&Reverse((next, place))) = self.next.peek()
            && next == number
        {
            self.next.pop();
            tags.extend(self.drawn.get(place).map(|drawn| drawn.term.clone()));
            self.draw(place);
        }
        tags
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn an_archive_is_the_same_for_the_same_seed_and_ids_are_unique() {
        let all: Vec<Fetch> = Archive::new(3000, 5).collect();
        assert_eq!(all, Archive::new(3000, 5).collect::<Vec<_>>());
        assert_ne!(all, Archive::new(3000, 6).collect::<Vec<_>>());
        let ids: std::collections::HashSet<_> = all.iter().map(|fetch| &fetch.id).collect();
        assert_eq!((ids.len(), all.len()), (3000, 3000));
        assert!(all.iter().all(|fetch| fetch.host.ends_with(&fetch.domain)));
    }

    #[test]
    fn each_term_has_exactly_as_many_hits_as_its_name_says() {
        let mut hits: HashMap<String, u32> = HashMap::new();
        for fetch in Archive::new(3000, 5) {
            fetch.tags.into_iter().for_each(|tag| *hits.entry(tag).or_default() += 1);
        }
        let decades = Tags::decades(3000);
        assert_eq!(decades.iter().map(|(hits, _)| *hits).collect::<Vec<_>>(), [1, 10, 100, 1000, 3000]);
        for (wanted, terms) in &decades {
            assert!(terms.iter().all(|term| hits[term] == *wanted), "{wanted}: {hits:?}");
        }
        assert_eq!((hits[EXPORT], hits.len()), (1500, 82));
    }
}
