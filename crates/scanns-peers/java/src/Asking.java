import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.search.similarities.ClassicSimilarity;

/** Asks all queries of a file, with the loops of adapter.rs, and without the cache of queries. */
final class Asking {
    private static final int TOP = 10;

    /** Documents whose positions are read for the queries of a class. */
    private static final long CHECKED = 100_000;

    private final IndexSearcher searcher;
    private final int searchers;
    private final int rounds;
    private final long classNanos;
    private final boolean positions;

    /** A query, its terms, and the class that it belongs to. */
    private record Asked(String group, String[] terms, Query query) {}

    /** What is timed. */
    private interface Job {
        void run(Query query, Everything everything) throws IOException;
    }

    private Asking(IndexReader reader, Peer.Options options) {
        searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        boolean classic = options.text("model").equals("classic");
        searcher.setSimilarity(classic ? new ClassicSimilarity() : new BM25Similarity());
        searchers = options.number("searchers");
        rounds = options.number("rounds");
        classNanos = options.number("class-ms") * 1_000_000L;
        positions = options.flag("positions");
    }

    static void run(Peer.Options options) throws Exception {
        List<Asked> asked = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(options.text("queries")))) {
            String[] fields = line.split("\t");
            String[] terms = fields[1].split(" ");
            asked.add(new Asked(fields[0], terms, query(fields[0].startsWith("and"), terms)));
        }
        try (IndexReader reader = Building.open(Path.of(options.text("index")))) {
            System.out.println(new Asking(reader, options).answer(asked, options.number("warm-ms")));
        }
    }

    private static Query query(boolean all, String[] terms) {
        if (terms.length == 1) return new TermQuery(new Term(Building.FIELD, terms[0]));
        BooleanClause.Occur occur = all ? BooleanClause.Occur.MUST : BooleanClause.Occur.SHOULD;
        BooleanQuery.Builder builder = new BooleanQuery.Builder();
        for (String term : terms) builder.add(new TermQuery(new Term(Building.FIELD, term)), occur);
        return builder.build();
    }

    private void top(Query query, Everything everything) throws IOException {
        searcher.search(query, TOP);
    }

    @SuppressWarnings("deprecation") // A collector of one's own is the simplest that can be, and needs no manager.
    private void all(Query query, Everything everything) throws IOException {
        everything.count = 0;
        searcher.search(query, everything);
    }

    private String answer(List<Asked> asked, int warmMillis) throws Exception {
        List<String> hits = new ArrayList<>();
        List<String> scores = new ArrayList<>();
        Everything everything = new Everything();
        for (Asked one : asked) {
            all(one.query, everything);
            hits.add(Integer.toString(everything.count));
            double sum = 0;
            for (ScoreDoc hit : searcher.search(one.query, TOP).scoreDocs) sum += hit.score;
            scores.add(Double.toString(sum));
        }
        List<String> sums = positions ? sums(asked) : List.of();
        final long warm = System.nanoTime() + warmMillis * 1_000_000L;
        for (int i = 0; System.nanoTime() < warm; i = (i + 1) % asked.size()) {
            top(asked.get(i).query, everything);
            all(asked.get(i).query, everything);
        }
        List<String> topMicros = new ArrayList<>();
        List<String> allMicros = new ArrayList<>();
        for (int start = 0, end; start < asked.size(); start = end) {
            end = start;
            while (end < asked.size() && asked.get(end).group.equals(asked.get(start).group)) end++;
            List<Query> queries = asked.subList(start, end).stream().map(Asked::query).toList();
            topMicros.addAll(times(queries, this::top));
            allMicros.addAll(times(queries, this::all));
        }
        IndexReader reader = searcher.getIndexReader();
        return String.format(
                Locale.ROOT,
                "{\"documents\":%d,\"segments\":%d,\"hits\":%s,\"scores\":%s,\"top_us\":%s,\"all_us\":%s,"
                        + "\"positions\":%s,\"peak_bytes\":%d}",
                reader.numDocs(), reader.leaves().size(), hits, scores, topMicros, allMicros, sums, Peer.peakBytes());
    }

    /** Of the first queries of each class, the sum of one more than each position of their terms; 0 of others. */
    private List<String> sums(List<Asked> asked) throws IOException {
        List<String> sums = new ArrayList<>();
        String group = "";
        long left = 0;
        for (Asked one : asked) {
            if (!one.group.equals(group)) left = CHECKED;
            group = one.group;
            long sum = 0;
            for (String term : one.terms) {
                if (left <= 0) break;
                for (LeafReaderContext leaf : searcher.getIndexReader().leaves()) {
                    Term field = new Term(Building.FIELD, term);
                    PostingsEnum postings = leaf.reader().postings(field, PostingsEnum.POSITIONS);
                    if (postings == null) continue;
                    for (; postings.nextDoc() != PostingsEnum.NO_MORE_DOCS; left--)
                        for (int i = postings.freq(); i > 0; i--) sum += postings.nextPosition() + 1;
                }
            }
            sums.add(Long.toString(sum));
        }
        return sums;
    }

    /** Microseconds of each query: the median over the rounds of all searchers. */
    private List<String> times(List<Query> queries, Job job) throws Exception {
        List<Callable<double[][]>> work = new ArrayList<>();
        for (int i = 0; i < searchers; i++) {
            // Searchers begin at different queries, so that they do not ask the same at once.
            final int first = i * queries.size() / searchers;
            work.add(() -> searchOn(queries, first, job));
        }
        List<double[][]> each = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(searchers)) {
            for (Future<double[][]> done : pool.invokeAll(work)) each.add(done.get());
        }
        List<String> medians = new ArrayList<>();
        for (int i = 0; i < queries.size(); i++) {
            final int at = i;
            double[] sorted = each.stream().flatMapToDouble(times -> Arrays.stream(times[at])).sorted().toArray();
            double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
            medians.add(Double.toString(median));
        }
        return medians;
    }

    /** The rounds of one searcher: times by query. */
    private double[][] searchOn(List<Query> queries, int first, Job job) throws IOException {
        Everything everything = new Everything();
        double[][] times = new double[queries.size()][rounds];
        final long end = System.nanoTime() + classNanos;
        int round = 0;
        for (; round < rounds && (round < 3 || System.nanoTime() < end); round++) {
            for (int step = 0; step < queries.size(); step++) {
                int at = (first + step) % queries.size();
                long begin = System.nanoTime();
                job.run(queries.get(at), everything);
                times[at][round] = (System.nanoTime() - begin) / 1e3;
            }
        }
        for (int i = 0; i < times.length; i++) times[i] = Arrays.copyOf(times[i], round);
        return times;
    }

    /** Gathers all hits with their scores, in arrays that are used again. */
    private static final class Everything implements Collector {
        int[] docs = new int[1 << 16];
        float[] scores = new float[1 << 16];
        int count;

        @Override
        public ScoreMode scoreMode() {
            return ScoreMode.COMPLETE;
        }

        @Override
        public LeafCollector getLeafCollector(LeafReaderContext context) {
            final int base = context.docBase;
            return new LeafCollector() {
                private Scorable scorer;

                @Override
                public void setScorer(Scorable scorer) {
                    this.scorer = scorer;
                }

                @Override
                public void collect(int doc) throws IOException {
                    if (count == docs.length) {
                        docs = Arrays.copyOf(docs, 2 * count);
                        scores = Arrays.copyOf(scores, 2 * count);
                    }
                    docs[count] = base + doc;
                    scores[count++] = scorer.score();
                }
            };
        }
    }
}
