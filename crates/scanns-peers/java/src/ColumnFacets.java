import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.internal.hppc.IntIntHashMap;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.DocIdStream;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.LongHeap;

/**
 * Counts the hits of a query by the values of columns. Strings are counted by their numbers in an array, or
 * in a hash table if there are few hits, with the same limit as Lucene's own facets. Years are counted in an
 * array. Hits come in batches, and each batch is counted one column at a time.
 */
final class ColumnFacets {
    private static final String[] FIELDS = {
        "host", "domain", "public_suffix", "crawl_year", "content_type_norm", "language"
    };
    private static final int BATCH = 4096;

    /** The most frequent values, and their counts. */
    record Facet(List<BytesRef> values, List<Integer> counts) {}

    private ColumnFacets() {}

    /** A receiver of batches of hits. */
    private interface Batches {
        void take(int[] docs, int count) throws IOException;
    }

    private record Hits(Batches batches, int[] docs) implements Collector, LeafCollector {
        @Override
        public ScoreMode scoreMode() {
            return ScoreMode.COMPLETE_NO_SCORES;
        }

        @Override
        public LeafCollector getLeafCollector(LeafReaderContext context) {
            return this;
        }

        @Override
        public void setScorer(Scorable scorer) {}

        @Override
        public void collect(int doc) throws IOException {
            docs[0] = doc;
            batches.take(docs, 1);
        }

        @Override
        public void collect(DocIdStream stream) throws IOException {
            for (int count = stream.intoArray(docs); count > 0; count = stream.intoArray(docs))
                batches.take(docs, count);
        }
    }

    /** The counts of one column, by value. */
    private abstract static class Column implements Batches {
        abstract Facet first() throws IOException;
    }

    private static final class Terms extends Column {
        private final SortedDocValues values;
        private final int[] counts;
        private final IntIntHashMap few;

        Terms(SortedDocValues values, int hits, int documents) {
            this.values = values;
            final boolean sparse = values.getValueCount() >= 1024 && hits < documents / 10;
            counts = sparse ? null : new int[values.getValueCount()];
            few = sparse ? new IntIntHashMap() : null;
        }

        @Override
        public void take(int[] docs, int count) throws IOException {
            if (counts != null) {
                for (int i = 0; i < count; i++) if (values.advanceExact(docs[i])) counts[values.ordValue()]++;
            } else {
                for (int i = 0; i < count; i++) if (values.advanceExact(docs[i])) few.addTo(values.ordValue(), 1);
            }
        }

        @Override
        Facet first() throws IOException {
            Best best = new Best();
            if (counts != null) {
                for (int ord = 0; ord < counts.length; ord++) if (counts[ord] > best.least) best.add(counts[ord], ord);
            } else {
                for (var one : few) if (one.value >= best.least) best.add(one.value, one.key);
            }
            List<BytesRef> terms = new ArrayList<>();
            List<Integer> counted = new ArrayList<>();
            for (long one : best.sorted()) {
                terms.add(BytesRef.deepCopyOf(values.lookupOrd(Integer.MAX_VALUE - (int) one)));
                counted.add((int) (one >> 32));
            }
            return new Facet(terms, counted);
        }
    }

    private static final class Years extends Column {
        private final NumericDocValues values;
        private final long[] found = new long[BATCH];
        private final int[] counts = new int[4096];

        Years(NumericDocValues values) {
            this.values = values;
        }

        @Override
        public void take(int[] docs, int count) throws IOException {
            values.longValues(count, docs, found, 0);
            for (int i = 0; i < count; i++) counts[(int) found[i]]++;
        }

        @Override
        Facet first() {
            Best best = new Best();
            for (int year = 0; year < counts.length; year++) if (counts[year] > best.least) best.add(counts[year], year);
            List<BytesRef> years = new ArrayList<>();
            List<Integer> counted = new ArrayList<>();
            for (long one : best.sorted()) {
                years.add(ColumnIndex.digits(Integer.MAX_VALUE - (int) one));
                counted.add((int) (one >> 32));
            }
            return new Facet(years, counted);
        }
    }

    /** Selects the numbers with the highest counts. Ties are broken by the least number. */
    private static final class Best {
        private final LongHeap heap = new LongHeap(ColumnIndex.FIRST);
        /** Lower counts cannot be among the best. */
        int least;

        void add(int count, int number) {
            long one = (long) count << 32 | Integer.MAX_VALUE - number;
            if (heap.size() < ColumnIndex.FIRST) heap.push(one);
            else if (one > heap.top()) heap.updateTop(one);
            if (heap.size() == ColumnIndex.FIRST) least = (int) (heap.top() >> 32);
        }

        long[] sorted() {
            long[] all = new long[heap.size()];
            for (int i = all.length - 1; i >= 0; i--) all[i] = heap.pop();
            return all;
        }
    }

    @SuppressWarnings("deprecation") // A single collector needs no collector manager.
    static List<Facet> count(IndexSearcher searcher, LeafReader leaf, Query query) throws IOException {
        final int hits = searcher.count(query);
        Column[] columns = new Column[FIELDS.length];
        for (int i = 0; i < FIELDS.length; i++) {
            columns[i] = FIELDS[i].equals("crawl_year")
                    ? new Years(DocValues.getNumeric(leaf, FIELDS[i]))
                    : new Terms(DocValues.getSorted(leaf, FIELDS[i]), hits, leaf.maxDoc());
        }
        Batches each = (docs, count) -> {
            for (Column column : columns) column.take(docs, count);
        };
        searcher.search(query, new Hits(each, new int[BATCH]));
        List<Facet> facets = new ArrayList<>();
        for (Column column : columns) facets.add(column.first());
        return facets;
    }

    /** Returns all hits. */
    @SuppressWarnings("deprecation") // As above.
    static int[] docs(IndexSearcher searcher, Query query) throws IOException {
        int[][] all = {new int[searcher.count(query)]};
        int[] length = {0};
        Batches gather = (docs, count) -> {
            System.arraycopy(docs, 0, all[0], length[0], count);
            length[0] += count;
        };
        searcher.search(query, new Hits(gather, new int[BATCH]));
        return length[0] == all[0].length ? all[0] : Arrays.copyOf(all[0], length[0]);
    }
}
