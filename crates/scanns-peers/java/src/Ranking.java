import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;

/**
 * Writes the best hits of each query of a file with their scores, for the comparison with scanns. See
 * scores.rs for the format. Documents are numbered in the order in which they were added, because the
 * segments are not merged.
 */
final class Ranking {
    private Ranking() {}

    static void run(Peer.Options options) throws Exception {
        final int most = options.number("hits");
        try (IndexReader reader = Building.open(Path.of(options.text("index")));
                DataOutputStream out =
                        new DataOutputStream(
                                new BufferedOutputStream(Files.newOutputStream(Path.of(options.text("out"))), 1 << 16))) {
            IndexSearcher searcher = new IndexSearcher(reader);
            searcher.setQueryCache(null);
            searcher.setSimilarity(Asking.similarity(options.text("model")));
            for (String line : Files.readAllLines(Path.of(options.text("queries")))) {
                Query query = Form.read(line).query();
                Sum sum = sum(searcher, query);
                ScoreDoc[] best = searcher.search(query, most).scoreDocs;
                out.writeLong(sum.count);
                out.writeLong(sum.digest);
                out.writeInt(best.length);
                for (ScoreDoc hit : best) {
                    out.writeInt(hit.doc);
                    out.writeFloat(hit.score);
                }
            }
        }
    }

    @SuppressWarnings("deprecation") // As in Asking.
    private static Sum sum(IndexSearcher searcher, Query query) throws IOException {
        Sum sum = new Sum();
        searcher.search(query, sum);
        return sum;
    }

    /** The number of all matching documents, and the sum of their hashed numbers. */
    private static final class Sum implements Collector {
        long count;
        long digest;

        @Override
        public ScoreMode scoreMode() {
            return ScoreMode.COMPLETE_NO_SCORES;
        }

        @Override
        public LeafCollector getLeafCollector(LeafReaderContext context) {
            final int base = context.docBase;
            return new LeafCollector() {
                @Override
                public void setScorer(Scorable scorer) {}

                @Override
                public void collect(int doc) {
                    count++;
                    digest += mix(base + doc);
                }
            };
        }

        /** Hashes a document number with the finalizer of SplitMix64. */
        private static long mix(long number) {
            long mixed = number + 0x9e3779b97f4a7c15L;
            mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
            mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
            return mixed ^ (mixed >>> 31);
        }
    }
}
