import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.DoubleField;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedSetDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Writes the documents of an application: two threads share a writer with default merges, which commits after
 * each batch. A copy of the index is merged into one segment.
 */
final class ApplicationWriting {
    private static final int THREADS = 2;
    private static final JsonFactory JSON = new JsonFactory();

    private ApplicationWriting() {}

    static void run(Peer.Options options) throws Exception {
        Path out = Path.of(options.text("out"));
        Path merged = Path.of(options.text("out") + "-merged");
        Building.empty(out);
        Building.empty(merged);
        System.out.println(write(Path.of(options.text("calls")), out));
        copy(out, merged);
        try (Directory directory = FSDirectory.open(merged);
                IndexWriter writer = new IndexWriter(directory, config())) {
            writer.forceMerge(1);
            writer.commit();
        }
    }

    private static IndexWriterConfig config() {
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
        config.setRAMBufferSizeMB(512);
        return config;
    }

    private static String write(Path calls, Path out) throws Exception {
        List<String> commits = new ArrayList<>();
        final long begin = System.nanoTime();
        final double seconds;
        final int segments;
        final int documents;
        try (BufferedReader lines = Files.newBufferedReader(calls);
                ExecutorService pool = Executors.newFixedThreadPool(THREADS);
                Directory directory = FSDirectory.open(out);
                IndexWriter writer = new IndexWriter(directory, config())) {
            for (List<String> batch = batch(lines); !batch.isEmpty(); batch = batch(lines)) {
                List<Callable<Void>> work = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    final int first = i;
                    final List<String> all = batch;
                    work.add(() -> {
                        for (int at = first; at < all.size(); at += THREADS) call(writer, all.get(at));
                        return null;
                    });
                }
                for (Future<Void> done : pool.invokeAll(work)) done.get();
                final long beginCommit = System.nanoTime();
                writer.commit();
                commits.add(Double.toString((System.nanoTime() - beginCommit) / 1e9));
            }
            seconds = (System.nanoTime() - begin) / 1e9;
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                segments = reader.leaves().size();
                documents = reader.numDocs();
            }
        }
        return String.format(
                Locale.ROOT,
                "{\"documents\":%d,\"seconds\":%.6f,\"commits\":%s,\"segments\":%d,\"index_bytes\":%d,\"peak_bytes\":%d}",
                documents, seconds, commits, segments, bytes(out), Peer.peakBytes());
    }

    /** The calls up to the next commit. */
    private static List<String> batch(BufferedReader lines) throws IOException {
        List<String> batch = new ArrayList<>();
        for (String line = lines.readLine(); line != null && !line.startsWith("\"commit\""); line = lines.readLine())
            batch.add(line);
        return batch;
    }

    private static void call(IndexWriter writer, String line) throws IOException {
        try (JsonParser parser = JSON.createParser(line)) {
            parser.nextToken();
            parser.nextToken();
            String kind = parser.currentName();
            parser.nextToken();
            if (kind.equals("delete")) {
                writer.deleteDocuments(new Term("id", Integer.toString(parser.getIntValue())));
            } else {
                put(writer, parser);
            }
        }
    }

    private static void put(IndexWriter writer, JsonParser parser) throws IOException {
        Document document = new Document();
        String id = null;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case "id" -> {
                    id = Integer.toString(parser.getIntValue());
                    document.add(new StringField(name, id, Field.Store.YES));
                }
                case "title", "body" -> document.add(new TextField(name, parser.getText(), Field.Store.YES));
                case "tags" -> {
                    while (parser.nextToken() != JsonToken.END_ARRAY) {
                        String tag = "tag" + parser.getIntValue();
                        document.add(new StringField("tag", tag, Field.Store.YES));
                        document.add(new SortedSetDocValuesField("tag", new BytesRef(tag)));
                    }
                }
                case "price" -> document.add(new DoubleField(name, parser.getDoubleValue(), Field.Store.YES));
                case "stock", "date" -> document.add(new NumericDocValuesField(name, parser.getLongValue()));
                default -> throw new IOException("a document has a member " + name);
            }
        }
        writer.updateDocument(new Term("id", id), document);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (var files = Files.list(from)) {
            for (Path file : files.toList()) Files.copy(file, to.resolve(file.getFileName()));
        }
    }

    private static long bytes(Path directory) throws IOException {
        long bytes = 0;
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) bytes += Files.size(file);
        }
        return bytes;
    }
}
