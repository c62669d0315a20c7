import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.ConcurrentMergeScheduler;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.MultiReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Builds an index: documents, frequencies and lengths of one field, and the stored path if a document is a
 * file. Positions, stored content and vectors are optional. Stored content has the default compression of the
 * codec, which favors speed.
 *
 * <p>Each thread has its own writer and index, or all threads share one. Merges run in the background without
 * a rate limit. Times end when every writer has committed, and when all merges have finished. If a number of
 * segments is given, one thread feeds one writer that does not merge, and commits each segment.
 */
final class Building {
    static final String FIELD = "body";

    private final List<Path> files;
    private final Path out;
    private final String records;
    private final String analyzer;
    private final int threads;
    private final boolean local;
    private final int bufferMib;
    private final int segments;
    private final boolean positions;
    private final boolean stored;
    private final boolean vectors;
    private final List<List<Path>> shares = new ArrayList<>();

    private Building(Peer.Options options) throws IOException {
        files = list(options.text("files"));
        out = Path.of(options.text("out"));
        records = options.text("records");
        analyzer = options.text("analyzer");
        threads = options.number("threads");
        local = options.text("writers").equals("local");
        bufferMib = options.number("buffer-mib");
        segments = options.number("segments");
        positions = options.flag("positions");
        stored = options.flag("stored");
        vectors = options.flag("vectors");
        for (int i = 0; i < segments; i++) shares.add(list(options.text("files") + "." + i));
    }

    private static List<Path> list(String file) throws IOException {
        String list = Files.readString(Path.of(file), StandardCharsets.UTF_8);
        return Arrays.stream(list.split("\0")).filter(path -> !path.isEmpty()).map(Path::of).toList();
    }

    static void run(Peer.Options options) throws Exception {
        Building building = new Building(options);
        for (int left = options.number("repetitions"); left > 0; left--) {
            empty(building.out);
            System.gc();
            System.out.println(building.build());
        }
    }

    /** Creates an empty directory, or empties an existing one. */
    static void empty(Path path) throws IOException {
        if (Files.exists(path)) {
            try (var below = Files.walk(path)) {
                for (Path one : below.sorted(Comparator.reverseOrder()).toList()) Files.delete(one);
            }
        }
        Files.createDirectories(path);
    }

    /** Builds once, and returns the report. */
    private String build() throws Exception {
        final long written = Peer.bytesWritten();
        final long begin = System.nanoTime();
        List<IndexWriter> writers = new ArrayList<>();
        for (int i = 0; i < (local ? threads : 1); i++) writers.add(writer(local ? out.resolve("writer-" + i) : out));
        final long bytes = segments == 0 ? fill(writers) : fillShares(writers.get(0));
        final double seconds = (System.nanoTime() - begin) / 1e9;
        for (IndexWriter writer : writers) {
            writer.close();
            writer.getDirectory().close();
        }
        final double rest = (System.nanoTime() - begin) / 1e9;
        return report(bytes, seconds, rest, Peer.bytesWritten() - written);
    }

    /** Adds all files with all threads and commits. Returns the bytes of their text. */
    private long fill(List<IndexWriter> writers) throws Exception {
        AtomicInteger next = new AtomicInteger();
        long bytes = 0;
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            List<Callable<Long>> work = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                IndexWriter writer = writers.get(local ? i : 0);
                work.add(() -> {
                    long read = add(writer, files, next);
                    if (local) writer.commit();
                    return read;
                });
            }
            for (Future<Long> done : pool.invokeAll(work)) bytes += done.get();
        }
        for (IndexWriter writer : writers) writer.commit();
        return bytes;
    }

    /** Adds the files of each share and commits them as one segment. Returns the bytes of the text. */
    private long fillShares(IndexWriter writer) throws IOException {
        long bytes = 0;
        for (List<Path> share : shares) {
            bytes += add(writer, share, new AtomicInteger());
            writer.commit();
        }
        return bytes;
    }

    private IndexWriter writer(Path path) throws IOException {
        MergePolicy policy = segments == 0 ? tiered() : NoMergePolicy.INSTANCE;
        IndexWriterConfig config = config(policy, threads, delimited() ? new StandardAnalyzer() : Analyzers.of(analyzer));
        // scanns counts the parts of identifiers in the length of a document.
        if (analyzer.equals("code")) config.setSimilarity(new BM25Similarity(false));
        config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
        config.setRAMBufferSizeMB(bufferMib);
        config.setRAMPerThreadHardLimitMB(2047);
        return new IndexWriter(FSDirectory.open(path), config);
    }

    /** A policy that merges into segments of practically any size, without compound files. */
    static MergePolicy tiered() {
        TieredMergePolicy policy = new TieredMergePolicy();
        policy.setNoCFSRatio(0);
        policy.setMaxMergedSegmentMB(20_000);
        return policy;
    }

    /** True if tokens are found in bytes, without an analyzer. */
    private boolean delimited() {
        return analyzer.equals("delimited");
    }

    /** A configuration that merges by {@code policy} in the background, without a rate limit. */
    static IndexWriterConfig config(MergePolicy policy, int threads) {
        return config(policy, threads, new StandardAnalyzer());
    }

    private static IndexWriterConfig config(MergePolicy policy, int threads, Analyzer analyzer) {
        IndexWriterConfig config = new IndexWriterConfig(analyzer);
        config.setUseCompoundFile(false);
        config.setMergePolicy(policy);
        ConcurrentMergeScheduler scheduler = new ConcurrentMergeScheduler();
        scheduler.setMaxMergesAndThreads(threads + 4, threads);
        scheduler.disableAutoIOThrottle();
        config.setMergeScheduler(scheduler);
        return config;
    }

    /**
     * Takes files from {@code next} on until none are left, adds their documents, and returns the bytes of
     * their text.
     */
    private long add(IndexWriter writer, List<Path> files, AtomicInteger next) throws IOException {
        if (records.equals("json")) return addJson(writer, files, next);
        final boolean lines = records.equals("line");
        FieldType type = type();
        Terms terms = new Terms();
        StoredField path = new StoredField("path", "");
        Document document = new Document();
        // Analyzers of Lucene take characters. Text in UTF-8 becomes a string, as in any program in Java.
        Field body = delimited() ? new Field(FIELD, terms, type) : new Field(FIELD, "", type);
        document.add(body);
        if (!lines) document.add(path);
        // Bytes are stored directly, which saves the time to convert them to characters and back.
        StoredField content = new StoredField(Contents.FIELD, new BytesRef());
        if (stored) document.add(content);

        byte[] text = new byte[1 << 20];
        long bytes = 0;
        for (int i = next.getAndIncrement(); i < files.size(); i = next.getAndIncrement()) {
            Path file = files.get(i);
            final int size = Math.toIntExact(Files.size(file));
            if (text.length < size) text = new byte[size];
            read(file, text, size);
            bytes += size;
            if (!lines) {
                set(body, terms, text, 0, size);
                content.setBytesValue(new BytesRef(text, 0, size));
                path.setStringValue(file.toString());
                writer.addDocument(document);
                continue;
            }
            for (int start = 0; start < size; ) {
                int end = start;
                while (end < size && text[end] != '\n') end++;
                set(body, terms, text, start, end);
                content.setBytesValue(new BytesRef(text, start, end - start));
                writer.addDocument(document);
                start = end + 1;
            }
        }
        return bytes;
    }

    private FieldType type() {
        FieldType type = new FieldType();
        type.setTokenized(true);
        type.setIndexOptions(positions ? IndexOptions.DOCS_AND_FREQS_AND_POSITIONS : IndexOptions.DOCS_AND_FREQS);
        type.setStoreTermVectors(vectors);
        type.setStoreTermVectorPositions(vectors);
        type.freeze();
        return type;
    }

    private static void read(Path file, byte[] text, int size) throws IOException {
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            if (in.readNBytes(text, 0, size) != size) throw new IOException(file + " became shorter");
        }
    }

    /** Does the same with lines of JSON, whose path and number become columns. */
    private long addJson(IndexWriter writer, List<Path> files, AtomicInteger next) throws IOException {
        FieldType type = type();
        Terms terms = new Terms();
        Field body = delimited() ? new Field(FIELD, terms, type) : new Field(FIELD, "", type);
        SortedDocValuesField path = new SortedDocValuesField("path", new BytesRef());
        NumericDocValuesField number = new NumericDocValuesField("bytes", 0);
        Document document = new Document();
        for (Field field : List.of(body, path, number)) document.add(field);
        JsonFactory factory = new JsonFactory();
        byte[] json = new byte[1 << 20];
        long bytes = 0;
        for (int i = next.getAndIncrement(); i < files.size(); i = next.getAndIncrement()) {
            final int size = Math.toIntExact(Files.size(files.get(i)));
            if (json.length < size) json = new byte[size];
            read(files.get(i), json, size);
            bytes += size;
            try (JsonParser parser = factory.createParser(json, 0, size)) {
                while (parser.nextToken() != null) {
                    while (parser.nextToken() != JsonToken.END_OBJECT) {
                        String name = parser.currentName();
                        parser.nextToken();
                        switch (name) {
                            case "path" -> path.setBytesValue(new BytesRef(parser.getText()));
                            case "bytes" -> number.setLongValue(parser.getLongValue());
                            case "text" -> set(body, terms, parser.getText());
                            default -> throw new IOException("JSON has a member " + name);
                        }
                    }
                    writer.addDocument(document);
                }
            }
        }
        return bytes;
    }

    private void set(Field body, Terms terms, String text) {
        if (delimited()) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            terms.set(bytes, 0, bytes.length);
        } else {
            body.setStringValue(text);
        }
    }

    /** Sets the text to index next. */
    private void set(Field body, Terms terms, byte[] text, int start, int end) {
        if (delimited()) terms.set(text, start, end);
        else body.setStringValue(new String(text, start, end - start, StandardCharsets.UTF_8));
    }

    /** Opens the index of one writer, or the indexes of several as one. */
    static IndexReader open(Path path) throws IOException {
        List<IndexReader> readers = new ArrayList<>();
        try (var below = Files.list(path)) {
            for (Path one : below.filter(Files::isDirectory).sorted().toList())
                readers.add(DirectoryReader.open(FSDirectory.open(one)));
        }
        if (!readers.isEmpty()) return new MultiReader(readers.toArray(new IndexReader[0]));
        return DirectoryReader.open(FSDirectory.open(path));
    }

    private String report(long bytes, double seconds, double rest, long written) throws IOException {
        final long peak = Peer.peakBytes();
        try (IndexReader reader = open(out)) {
            return String.format(
                    Locale.ROOT,
                    "{\"documents\":%d,\"tokens\":%d,\"bytes\":%d,\"seconds\":%.6f,\"rest_seconds\":%.6f,"
                            + "\"segments\":%d,\"bytes_written\":%d,\"peak_bytes\":%d,\"contents\":%s}",
                    reader.numDocs(), Contents.tokens(reader), bytes, seconds, rest, reader.leaves().size(), written,
                    peak, stored ? Contents.digest(reader) : "null");
        }
    }
}
