import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/** Answers the requests of columns/protocol.rs, with the same loops as columns/serve.rs. */
final class ColumnAsking {
    /** The maximum number of hits for the grouping module. A million hits take it ten seconds or more. */
    private static final int MOST_GROUPED = 200_000;

    private DirectoryReader reader;
    private ColumnIndex index;

    /** The query for a term, with its first hits. */
    private record Asked(Query query, ScoreDoc[] hits) {}

    /** The results of an operation. Parts that were not requested are empty. */
    private static final class Answer {
        List<ColumnFacets.Facet> facets = List.of();
        ColumnIndex.Groups groups;
        TopFieldDocs sorted;
        BytesRef[][] rows;
        BytesRef exported;
    }

    /** A 64-bit FNV-1a hash, as in columns/answer.rs. */
    private static final class Digest {
        private long hash = 0xcbf29ce484222325L;

        void number(long number) {
            for (int i = 0; i < 8; i++) hash = (hash ^ (number >>> 8 * i & 0xff)) * 0x100000001b3L;
        }

        void string(BytesRef text) {
            number(text.length);
            for (int i = 0; i < text.length; i++)
                hash = (hash ^ (text.bytes[text.offset + i] & 0xff)) * 0x100000001b3L;
        }
    }

    static void run(Peer.Options options) throws IOException {
        ColumnAsking asking = new ColumnAsking();
        Path path = Path.of(options.text("index"));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(asking.answer(path, line.split(" ")));
            System.out.flush();
        }
    }

    private String answer(Path path, String[] words) throws IOException {
        switch (words[0]) {
            case "open" -> {
                reader = DirectoryReader.open(FSDirectory.open(path));
                IndexSearcher searcher = new IndexSearcher(reader);
                searcher.setQueryCache(null);
                index = new ColumnIndex(searcher);
                return String.format(
                        Locale.ROOT,
                        "{\"documents\":%d,\"segments\":%d,\"peak_bytes\":%d}",
                        reader.numDocs(), reader.leaves().size(), peakSince());
            }
            case "close" -> {
                reader.close();
                index = null;
                return "[]";
            }
            case "check" -> {
                return can(words[1], words[2]) ? digests(run(words[1], query(words[2]))) : "null";
            }
            case "time" -> {
                return time(words).toString();
            }
            default -> throw new IllegalArgumentException("unknown request " + words[0]);
        }
    }

    private Asked query(String term) throws IOException {
        Query query = new TermQuery(new Term("tag", term));
        return new Asked(query, index.sort(query).scoreDocs);
    }

    private boolean can(String operation, String term) throws IOException {
        return !operation.equals("groups") || reader.docFreq(new Term("tag", term)) <= MOST_GROUPED;
    }

    private Answer run(String operation, Asked asked) throws IOException {
        Answer answer = new Answer();
        switch (operation) {
            case "facets" -> answer.facets = index.facets(asked.query);
            case "groups" -> answer.groups = index.groups(asked.query);
            case "groups-by-hand" -> answer.groups = index.groupsByHand(asked.query);
            case "sort" -> answer.sorted = index.sort(asked.query);
            case "fetch" -> answer.rows = index.fetch(asked.hits);
            case "all" -> {
                answer.facets = index.facets(asked.query);
                answer.groups = index.groupsByHand(asked.query);
                answer.sorted = index.sort(asked.query);
                answer.rows = index.fetch(answer.sorted.scoreDocs);
            }
            case "export" -> answer.exported = index.export(asked.query, false);
            case "export-in-order" -> answer.exported = index.export(asked.query, true);
            default -> throw new IllegalArgumentException("unknown operation " + operation);
        }
        return answer;
    }

    private String digests(Answer answer) throws IOException {
        Digest strict = new Digest();
        Digest loose = new Digest();
        for (ColumnFacets.Facet facet : answer.facets) {
            both(strict, loose, facet.values().size());
            for (int i = 0; i < facet.values().size(); i++) {
                strict.string(facet.values().get(i));
                both(strict, loose, facet.counts().get(i));
            }
        }
        if (answer.groups != null) {
            both(strict, loose, answer.groups.total());
            for (ColumnIndex.Group group : answer.groups.first()) {
                strict.string(group.value());
                both(strict, loose, group.count());
                strict.string(index.id(group.head()));
            }
        }
        if (answer.sorted != null) {
            for (ScoreDoc hit : answer.sorted.scoreDocs) {
                BytesRef length = ColumnIndex.digits((Long) ((FieldDoc) hit).fields[0]);
                strict.string(length);
                loose.string(length);
                strict.string(index.id(hit.doc));
            }
        }
        if (answer.rows != null)
            for (BytesRef[] row : answer.rows) for (BytesRef value : row) strict.string(value);
        if (answer.exported != null) {
            strict.string(answer.exported);
            both(strict, loose, answer.exported.length);
        }
        return String.format(Locale.ROOT, "{\"strict\":\"%016x\",\"loose\":\"%016x\"}", strict.hash, loose.hash);
    }

    private static void both(Digest strict, Digest loose, long number) {
        strict.number(number);
        loose.number(number);
    }

    /** Times an operation. Returns microseconds by term and round. */
    private List<List<Double>> time(String[] words) throws IOException {
        final String operation = words[1];
        final int rounds = Integer.parseInt(words[3]);
        List<Asked> queries = new ArrayList<>();
        List<List<Double>> times = new ArrayList<>();
        for (String term : words[5].split(",")) {
            if (!can(operation, term)) continue;
            queries.add(query(term));
            times.add(new ArrayList<>());
        }
        if (queries.isEmpty()) return times;
        final long warm = System.nanoTime() + Long.parseLong(words[2]) * 1_000_000L;
        long seen = 0;
        for (int i = 0; System.nanoTime() < warm; i = (i + 1) % queries.size())
            seen += run(operation, queries.get(i)).hashCode();
        final long end = System.nanoTime() + Long.parseLong(words[4]) * 1_000_000L;
        int done = 0;
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < queries.size(); i++, done++) {
                if (done >= 3 && System.nanoTime() > end) return times;
                final long begin = System.nanoTime();
                Answer answer = run(operation, queries.get(i));
                times.get(i).add((System.nanoTime() - begin) / 1e3);
                seen += answer.hashCode();
            }
        }
        if (seen == 42) System.err.println("this line only keeps the compiler from removing the operations");
        return times;
    }

    /**
     * Returns the peak resident memory of this process since the last call, or since its start if the kernel
     * cannot reset the peak.
     */
    static long peakSince() throws IOException {
        final long peak = Peer.peakBytes();
        try {
            Files.writeString(Path.of("/proc/self/clear_refs"), "5");
        } catch (IOException none) {
            return peak;
        }
        return peak;
    }
}
