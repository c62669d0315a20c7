import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.store.FSDirectory;
import org.jsoup.Jsoup;

/**
 * Builds an index of web archives as Anserini does: every response is a document with an identifier and the
 * text that jsoup finds in its HTML, with positions, and stored. A thread reads a file at a time, and all add
 * to one writer, which merges in the background and commits at the end.
 *
 * <p>The time of a stage is the time of a build that ends with it: {@code --until records} only decompresses
 * and finds records, {@code --until text} also reads HTML, {@code --until index} does everything.
 */
final class WarcBuilding {
    static final String FIELD = "contents";

    private final List<Path> files;
    private final Path out;
    private final int threads;
    private final int bufferMib;
    private final String until;
    private final AtomicInteger next = new AtomicInteger();

    private WarcBuilding(Peer.Options options) throws IOException {
        String list = Files.readString(Path.of(options.text("files")), StandardCharsets.UTF_8);
        files = Arrays.stream(list.split("\0")).filter(path -> !path.isEmpty()).map(Path::of).toList();
        out = Path.of(options.text("out"));
        threads = options.number("threads");
        bufferMib = options.number("buffer-mib");
        until = options.text("until");
    }

    /** Numbers of pages, and of characters of their HTML and text. */
    private record Read(long pages, long html, long text) {
        Read plus(Read other) {
            return new Read(pages + other.pages, html + other.html, text + other.text);
        }
    }

    static void run(Peer.Options options) throws Exception {
        WarcBuilding building = new WarcBuilding(options);
        Building.empty(building.out);
        final long begin = System.nanoTime();
        Read read;
        if (building.until.equals("index")) {
            IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
            config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
            config.setRAMBufferSizeMB(building.bufferMib);
            try (FSDirectory directory = FSDirectory.open(building.out);
                    IndexWriter writer = new IndexWriter(directory, config)) {
                read = building.fill(writer);
                writer.commit();
            }
        } else {
            read = building.fill(null);
        }
        System.out.println(building.report(read, (System.nanoTime() - begin) / 1e9));
    }

    /** Reads all files with all threads. */
    private Read fill(IndexWriter writer) throws Exception {
        Read all = new Read(0, 0, 0);
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            List<Callable<Read>> work = new ArrayList<>();
            for (int i = 0; i < threads; i++) work.add(() -> add(writer));
            for (Future<Read> done : pool.invokeAll(work)) all = all.plus(done.get());
        }
        return all;
    }

    /** Takes files until none are left, and adds their pages. */
    private Read add(IndexWriter writer) throws IOException {
        long pages = 0;
        long html = 0;
        long text = 0;
        for (int i = next.getAndIncrement(); i < files.size(); i = next.getAndIncrement()) {
            try (WarcRecords records = new WarcRecords(files.get(i))) {
                for (WarcRecords.Page page = records.next(); page != null; page = records.next()) {
                    pages++;
                    html += page.html().length();
                    if (until.equals("records")) continue;
                    String contents = Jsoup.parse(page.html()).text();
                    text += contents.length();
                    if (writer == null) continue;
                    Document document = new Document();
                    document.add(new StringField("id", page.id(), Field.Store.YES));
                    document.add(new TextField(FIELD, contents, Field.Store.YES));
                    writer.addDocument(document);
                }
            }
        }
        return new Read(pages, html, text);
    }

    private String report(Read read, double seconds) throws IOException {
        final long peak = Peer.peakBytes();
        long documents = 0;
        long tokens = 0;
        int segments = 0;
        if (until.equals("index")) {
            try (IndexReader reader = DirectoryReader.open(FSDirectory.open(out))) {
                documents = reader.numDocs();
                segments = reader.leaves().size();
                for (LeafReaderContext leaf : reader.leaves()) {
                    var terms = leaf.reader().terms(FIELD);
                    if (terms != null) tokens += terms.getSumTotalTermFreq();
                }
            }
        }
        return String.format(
                Locale.ROOT,
                "{\"documents\":%d,\"tokens\":%d,\"pages\":%d,\"html\":%d,\"text\":%d,\"seconds\":%.6f,"
                        + "\"segments\":%d,\"peak_bytes\":%d}",
                documents, tokens, read.pages, read.html, read.text, seconds, segments, peak);
    }
}
