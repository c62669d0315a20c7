import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/**
 * Merges all segments of an index into one, without a rate limit. The original index is not changed: its
 * files are linked, because Lucene never writes to existing files. The time is measured from opening to the
 * end of the commit.
 */
final class Merging {
    private Merging() {}

    static void run(Peer.Options options) throws Exception {
        Path index = Path.of(options.text("index"));
        Path out = Path.of(options.text("out"));
        for (int left = options.number("repetitions"); left > 0; left--) {
            Building.empty(out);
            try (var files = Files.list(index)) {
                for (Path one : files.toList()) Files.createLink(out.resolve(one.getFileName()), one);
            }
            System.gc();
            System.out.println(merge(out, options.flag("stored")));
        }
    }

    private static String merge(Path out, boolean stored) throws IOException {
        final long bytesBefore = bytes(out);
        final long written = Peer.bytesWritten();
        final int before;
        final double seconds;
        final long begin = System.nanoTime();
        try (Directory directory = FSDirectory.open(out)) {
            before = SegmentInfos.readLatestCommit(directory).size();
            IndexWriterConfig config = Building.config(Building.tiered(), Runtime.getRuntime().availableProcessors());
            config.setOpenMode(IndexWriterConfig.OpenMode.APPEND);
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                writer.forceMerge(1);
                writer.commit();
                seconds = (System.nanoTime() - begin) / 1e9;
            }
        }
        final long bytesWritten = Peer.bytesWritten() - written;
        final long peak = Peer.peakBytes();
        try (IndexReader reader = DirectoryReader.open(FSDirectory.open(out))) {
            return String.format(
                    Locale.ROOT,
                    "{\"documents\":%d,\"tokens\":%d,\"segments_before\":%d,\"segments\":%d,\"bytes_before\":%d,"
                            + "\"bytes_after\":%d,\"seconds\":%.6f,\"bytes_written\":%d,\"peak_bytes\":%d,"
                            + "\"contents\":%s}",
                    reader.numDocs(), Contents.tokens(reader), before, reader.leaves().size(), bytesBefore, bytes(out),
                    seconds, bytesWritten, peak, stored ? Contents.digest(reader) : "null");
        }
    }

    private static long bytes(Path directory) throws IOException {
        long bytes = 0;
        try (var files = Files.list(directory)) {
            for (Path one : files.toList()) bytes += Files.size(one);
        }
        return bytes;
    }
}
