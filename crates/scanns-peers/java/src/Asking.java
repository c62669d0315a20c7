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
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.search.similarities.ClassicSimilarity;
import org.apache.lucene.search.similarities.LMDirichletSimilarity;
import org.apache.lucene.search.similarities.Similarity;

/** Runs all queries of a file, with the same loops as adapter.rs, and without a query cache. */
final class Asking {
    /** The number of documents after which no more positions are read for the queries of a class. */
    private static final long CHECKED = 100_000;

    private final IndexSearcher searcher;
    private final int searchers;
    private final int rounds;
    private final long classNanos;
    private final boolean positions;

    /** A query with its class and its terms. */
    private record Asked(String group, List<String> terms, Query query) {}

    /** A timed operation. */
    private interface Job {
        void run(Query query, Everything everything) throws IOException;
    }

    private Asking(IndexReader reader, Peer.Options options) {
        searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        searcher.setSimilarity(similarity(options.text("model")));
        searchers = options.number("searchers");
        rounds = options.number("rounds");
        classNanos = options.number("class-ms") * 1_000_000L;
        positions = options.flag("positions");
    }

    static void run(Peer.Options options) throws Exception {
        List<Asked> asked = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(options.text("queries")))) {
            String[] fields = line.split("\t");
            Form.Read read = Form.read(fields[1]);
            asked.add(new Asked(fields[0], read.terms(), read.query()));
        }
        try (IndexReader reader = Building.open(Path.of(options.text("index")))) {
            System.out.println(new Asking(reader, options).answer(asked, options.number("warm-ms")));
        }
    }

    /** The similarity for the name of a model in protocol.rs. */
    static Similarity similarity(String model) {
        return switch (model) {
            case "bm25" -> new BM25Similarity();
            case "classic" -> new ClassicSimilarity();
            case "lm-dirichlet" -> new LMDirichletSimilarity(2000);
            default -> throw new IllegalArgumentException("unknown model " + model);
        };
    }

    private void top10(Query query, Everything everything) throws IOException {
        searcher.search(query, 10);
    }

    private void top100(Query query, Everything everything) throws IOException {
        searcher.search(query, 100);
    }

    private void count(Query query, Everything everything) throws IOException {
        everything.count = searcher.count(query);
    }

    @SuppressWarnings("deprecation") // A single collector needs no collector manager.
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
            final int gathered = everything.count;
            count(one.query, everything);
            if (everything.count != gathered)
                throw new IllegalStateException(gathered + " hits, but " + everything.count + " counted: " + one.query);
            hits.add(Integer.toString(gathered));
            double sum = 0;
            for (ScoreDoc hit : searcher.search(one.query, 100).scoreDocs) sum += hit.score;
            scores.add(Double.toString(sum));
        }
        List<String> sums = positions ? sums(asked) : List.of();
        List<Job> jobs = List.of(this::top10, this::top100, this::count, this::all);
        final long warm = System.nanoTime() + warmMillis * 1_000_000L;
        for (int i = 0; System.nanoTime() < warm; i = (i + 1) % asked.size())
            for (Job job : jobs) job.run(asked.get(i).query, everything);
        List<List<String>> micros = jobs.stream().map(job -> (List<String>) new ArrayList<String>()).toList();
        for (int start = 0, end; start < asked.size(); start = end) {
            end = start;
            while (end < asked.size() && asked.get(end).group.equals(asked.get(start).group)) end++;
            List<Query> queries = asked.subList(start, end).stream().map(Asked::query).toList();
            for (int job = 0; job < jobs.size(); job++) micros.get(job).addAll(times(queries, jobs.get(job)));
        }
        IndexReader reader = searcher.getIndexReader();
        return String.format(
                Locale.ROOT,
                "{\"documents\":%d,\"segments\":%d,\"hits\":%s,\"scores\":%s,\"micros\":%s,"
                        + "\"positions\":%s,\"peak_bytes\":%d}",
                reader.numDocs(), reader.leaves().size(), hits, scores, micros, sums, Peer.peakBytes());
    }

    /** For the first queries of each class, the sum of position + 1 over all positions of their terms. */
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
            // Searchers start at different queries, so that they do not run the same query at the same time.
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

    /** Runs the rounds of one searcher and returns the times by query. */
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

    /** Collects all hits with their scores in arrays that the next query reuses. */
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
