import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.BreakIterator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.DoubleField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedNumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.SortedNumericSortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.uhighlight.LengthGoalBreakIterator;
import org.apache.lucene.search.uhighlight.UnifiedHighlighter;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.NumericUtils;

/** Answers the questions of an application; application/protocol.rs says which there are. */
final class ApplicationAsking {
    private static final int PAGE = 10;
    private static final long NOW = 1_750_000_000L;

    /** The age, in seconds, of which the score is halved. */
    private static final double HALF = 100.0 * 86_400.0;
    private static final long INTERVAL = 30 * 86_400;
    private static final Sort STOCK = new Sort(new SortField("stock", SortField.Type.LONG, true));
    private static final Sort STOCK_AND_PRICE =
            new Sort(
                    new SortField("stock", SortField.Type.LONG, true),
                    new SortedNumericSortField("price", SortField.Type.DOUBLE));

    private final Path path;
    private final IndexSearcher searcher;
    private final StoredFields stored;

    private ApplicationAsking(Path path, DirectoryReader reader) throws IOException {
        this.path = path;
        searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        stored = reader.storedFields();
    }

    /** A question, and its best hits where they are asked for. */
    private record Prepared(String kind, Query query, TopDocs hits) {}

    static void run(Peer.Options options) throws Exception {
        Path path = Path.of(options.text("index"));
        final int rounds = options.number("rounds");
        try (DirectoryReader reader = DirectoryReader.open(FSDirectory.open(path))) {
            ApplicationAsking asking = new ApplicationAsking(path, reader);
            List<Prepared> questions = new ArrayList<>();
            for (String line : Files.readAllLines(Path.of(options.text("questions")))) questions.add(asking.prepare(line));
            asking.warm(questions);
            String[] answers = new String[questions.size()];
            double[][] micros = new double[questions.size()][rounds];
            for (int round = 0; round < rounds; round++) {
                for (int at = 0; at < answers.length; at++) {
                    final long begin = System.nanoTime();
                    double[] answer = asking.answer(questions.get(at));
                    micros[at][round] = (System.nanoTime() - begin) / 1e3;
                    answers[at] = Arrays.toString(answer);
                }
            }
            System.out.printf(
                    Locale.ROOT,
                    "{\"segments\":%d,\"answers\":%s,\"micros\":%s,\"peak_bytes\":%d}%n",
                    reader.leaves().size(), Arrays.toString(answers), Arrays.deepToString(micros), Peer.peakBytes());
        }
    }

    /** Runs other questions for some seconds, because a virtual machine compiles code only after it has run often. */
    private void warm(List<Prepared> questions) throws IOException {
        final long end = System.nanoTime() + 10_000_000_000L;
        while (System.nanoTime() < end) {
            for (Prepared question : questions) {
                if (System.nanoTime() >= end) break;
                answer(question);
            }
        }
    }

    private Prepared prepare(String line) throws IOException {
        String kind = line.substring(0, line.indexOf('\t'));
        Query query = Form.read(line.substring(line.indexOf('\t') + 1)).query();
        if (kind.equals("range")) {
            query =
                    new BooleanQuery.Builder()
                            .add(query, Occur.MUST)
                            .add(DoubleField.newRangeQuery("price", 100, 200), Occur.FILTER)
                            .build();
        }
        boolean hits = List.of("stored", "snippets", "keys").contains(kind);
        return new Prepared(kind, query, hits ? searcher.search(query, PAGE) : null);
    }

    private double[] answer(Prepared question) throws IOException {
        Query query = question.query();
        return switch (question.kind()) {
            case "stored" -> {
                int values = 0;
                // The key is a stored field here.
                for (ScoreDoc hit : question.hits().scoreDocs) values += stored.document(hit.doc).getFields().size() - 1;
                yield new double[] {values};
            }
            case "snippets" -> snippets(question);
            case "keys" -> {
                int keys = 0;
                for (ScoreDoc hit : question.hits().scoreDocs)
                    if (!stored.document(hit.doc, java.util.Set.of("id")).get("id").isEmpty()) keys++;
                yield new double[] {keys};
            }
            case "by-age" -> byAge(query);
            case "statistics" -> statistics(query);
            case "histogram" -> histogram(query);
            case "facet" -> facet(query);
            case "range", "top" -> {
                ScoreDoc[] hits = searcher.search(query, PAGE).scoreDocs;
                yield Arrays.stream(hits).mapToDouble(hit -> hit.score).toArray();
            }
            case "sort" -> sorted(query, STOCK);
            case "sort-twice" -> sorted(query, STOCK_AND_PRICE);
            case "count" -> new double[] {searcher.count(query)};
            case "open" -> {
                try (DirectoryReader reader = DirectoryReader.open(FSDirectory.open(path))) {
                    yield new double[] {new IndexSearcher(reader).getIndexReader().numDocs()};
                }
            }
            default -> throw new IllegalArgumentException("unknown question " + question.kind());
        };
    }

    private double[] snippets(Prepared question) throws IOException {
        UnifiedHighlighter highlighter =
                UnifiedHighlighter.builder(searcher, new StandardAnalyzer())
                        .withBreakIterator(
                                () -> LengthGoalBreakIterator.createMinLength(BreakIterator.getSentenceInstance(Locale.ROOT), 80, 0f))
                        .build();
        int marked = 0;
        for (String snippet : highlighter.highlight("body", question.query(), question.hits(), 1))
            if (snippet != null && snippet.contains("<b>")) marked++;
        return new double[] {marked};
    }

    private double[] sorted(Query query, Sort sort) throws IOException {
        List<Double> keys = new ArrayList<>();
        for (ScoreDoc hit : searcher.search(query, PAGE, sort).scoreDocs)
            for (Object key : ((org.apache.lucene.search.FieldDoc) hit).fields) keys.add(((Number) key).doubleValue());
        return keys.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** What is done with the documents of a segment. */
    private interface Visit {
        void visit(int doc, float score) throws IOException;
    }

    /** Makes the visit for a segment. */
    private interface Begin {
        Visit begin(LeafReaderContext context) throws IOException;
    }

    @SuppressWarnings("deprecation") // As in Asking.
    private void each(Query query, boolean scores, Begin begin) throws IOException {
        searcher.search(
                query,
                new Collector() {
                    @Override
                    public ScoreMode scoreMode() {
                        return scores ? ScoreMode.COMPLETE : ScoreMode.COMPLETE_NO_SCORES;
                    }

                    @Override
                    public LeafCollector getLeafCollector(LeafReaderContext context) throws IOException {
                        Visit visit = begin.begin(context);
                        return new LeafCollector() {
                            private Scorable scorer;

                            @Override
                            public void setScorer(Scorable scorer) {
                                this.scorer = scorer;
                            }

                            @Override
                            public void collect(int doc) throws IOException {
                                visit.visit(doc, scores ? scorer.score() : 0);
                            }
                        };
                    }
                });
    }

    private double[] byAge(Query query) throws IOException {
        float[] best = new float[PAGE];
        each(query, true, context -> {
            NumericDocValues dates = DocValues.getNumeric(context.reader(), "date");
            return (doc, score) -> {
                if (!dates.advanceExact(doc)) return;
                double age = Math.max(NOW - dates.longValue(), 0);
                float scored = (float) (score * (HALF / (HALF + age)));
                if (scored <= best[0]) return;
                // The least of the best is first.
                int at = 0;
                for (; at + 1 < PAGE && best[at + 1] < scored; at++) best[at] = best[at + 1];
                best[at] = scored;
            };
        });
        double[] found = new double[PAGE];
        int count = 0;
        for (int i = PAGE - 1; i >= 0; i--) if (best[i] > 0) found[count++] = best[i];
        return Arrays.copyOf(found, count);
    }

    private double[] statistics(Query query) throws IOException {
        double[] found = {0, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0};
        each(query, false, context -> {
            SortedNumericDocValues prices = DocValues.getSortedNumeric(context.reader(), "price");
            return (doc, score) -> {
                if (!prices.advanceExact(doc)) return;
                for (int i = prices.docValueCount(); i > 0; i--) {
                    double price = NumericUtils.sortableLongToDouble(prices.nextValue());
                    found[0]++;
                    found[1] = Math.min(found[1], price);
                    found[2] = Math.max(found[2], price);
                    found[3] += price;
                }
            };
        });
        return found;
    }

    private double[] histogram(Query query) throws IOException {
        Map<Long, int[]> counts = new TreeMap<>();
        each(query, false, context -> {
            NumericDocValues dates = DocValues.getNumeric(context.reader(), "date");
            return (doc, score) -> {
                if (dates.advanceExact(doc))
                    counts.computeIfAbsent(Math.floorDiv(dates.longValue(), INTERVAL), key -> new int[1])[0]++;
            };
        });
        return counts.values().stream().mapToDouble(count -> count[0]).toArray();
    }

    private double[] facet(Query query) throws IOException {
        Map<String, Integer> counts = new HashMap<>();
        List<Runnable> ends = new ArrayList<>();
        each(query, false, context -> {
            SortedSetDocValues tags = DocValues.getSortedSet(context.reader(), "tag");
            int[] of = new int[(int) tags.getValueCount()];
            ends.add(() -> {
                try {
                    for (int ord = 0; ord < of.length; ord++)
                        if (of[ord] > 0) counts.merge(tags.lookupOrd(ord).utf8ToString(), of[ord], Integer::sum);
                } catch (IOException exception) {
                    throw new java.io.UncheckedIOException(exception);
                }
            });
            return (doc, score) -> {
                if (!tags.advanceExact(doc)) return;
                for (int i = tags.docValueCount(); i > 0; i--) of[(int) tags.nextOrd()]++;
            };
        });
        ends.forEach(Runnable::run);
        List<Integer> sorted = new ArrayList<>(counts.values());
        sorted.sort(Collections.reverseOrder());
        return sorted.stream().limit(PAGE).mapToDouble(count -> count).toArray();
    }
}
