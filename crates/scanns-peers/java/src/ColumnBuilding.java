import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.codecs.DocValuesFormat;
import org.apache.lucene.codecs.lucene104.Lucene104Codec;
import org.apache.lucene.codecs.lucene90.Lucene90DocValuesFormat;
import org.apache.lucene.codecs.perfield.PerFieldDocValuesFormat;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Builds an index with columns in one thread, and merges it into one segment that keeps the document order.
 *
 * <p>The codec and the format are the newest. Each field has its own files, so that its size is known.
 */
final class ColumnBuilding {
    private ColumnBuilding() {}

    /** The default codec, with a separate instance of the default format for each field. */
    private static final class ByField extends Lucene104Codec {
        private final Map<String, DocValuesFormat> formats = new ConcurrentHashMap<>();

        @Override
        public DocValuesFormat getDocValuesFormatForField(String field) {
            return formats.computeIfAbsent(field, name -> new Lucene90DocValuesFormat());
        }
    }

    static void run(Peer.Options options) throws IOException {
        Path out = Path.of(options.text("out"));
        Building.empty(out);
        System.out.println(build(options.text("fetches"), out));
    }

    private static IndexWriterConfig config(MergePolicy policy, IndexWriterConfig.OpenMode mode) {
        IndexWriterConfig config = Building.config(policy, 1);
        config.setCodec(new ByField());
        config.setOpenMode(mode);
        config.setRAMBufferSizeMB(512);
        return config;
    }

    private static String build(String fetches, Path out) throws IOException {
        try (Directory directory = FSDirectory.open(out)) {
            final long begin = System.nanoTime();
            final int segments;
            try (IndexWriter writer =
                    new IndexWriter(directory, config(NoMergePolicy.INSTANCE, IndexWriterConfig.OpenMode.CREATE))) {
                add(fetches, writer);
                writer.commit();
                try (IndexReader reader = DirectoryReader.open(directory)) {
                    segments = reader.leaves().size();
                }
            }
            final double seconds = (System.nanoTime() - begin) / 1e9;
            final long peak = ColumnAsking.peakSince();
            final long beginMerge = System.nanoTime();
            LogDocMergePolicy policy = new LogDocMergePolicy();
            policy.setNoCFSRatio(0);
            policy.setMergeFactor(1000);
            try (IndexWriter writer =
                    new IndexWriter(directory, config(policy, IndexWriterConfig.OpenMode.APPEND))) {
                writer.forceMerge(1);
                writer.commit();
            }
            final double mergeSeconds = (System.nanoTime() - beginMerge) / 1e9;
            final long mergePeak = ColumnAsking.peakSince();
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                return String.format(
                        Locale.ROOT,
                        "{\"documents\":%d,\"seconds\":%.6f,\"segments\":%d,\"merge_seconds\":%.6f,"
                                + "\"peak_bytes\":%d,\"merge_peak_bytes\":%d,\"index_bytes\":%d,\"columns\":%s}",
                        reader.numDocs(), seconds, segments, mergeSeconds, peak, mergePeak, bytes(out), columns(reader, out));
            }
        }
    }

    private static void add(String path, IndexWriter writer) throws IOException {
        BytesRef[] texts = new BytesRef[Fetches.STRINGS.length];
        SortedDocValuesField[] strings = new SortedDocValuesField[texts.length];
        NumericDocValuesField[] numbers = new NumericDocValuesField[Fetches.NUMBERS.length];
        List<Field> tags = new ArrayList<>();
        List<IndexableField> document = new ArrayList<>();
        for (int i = 0; i < texts.length; i++) {
            texts[i] = new BytesRef();
            strings[i] = new SortedDocValuesField(Fetches.STRINGS[i], texts[i]);
            document.add(strings[i]);
        }
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = new NumericDocValuesField(Fetches.NUMBERS[i], 0);
            document.add(numbers[i]);
        }
        final int columns = document.size();
        try (Fetches fetches = new Fetches(path)) {
            while (fetches.next()) {
                for (int i = 0; i < texts.length; i++) set(texts[i], fetches, i);
                for (int i = 0; i < numbers.length; i++) numbers[i].setLongValue(fetches.numbers[i]);
                while (tags.size() < fetches.tags) tags.add(new StringField("tag", new BytesRef(), Field.Store.NO));
                while (document.size() > columns) document.remove(document.size() - 1);
                for (int i = 0; i < fetches.tags; i++) {
                    BytesRef tag = tags.get(i).binaryValue();
                    set(tag, fetches, texts.length + i);
                    document.add(tags.get(i));
                }
                writer.addDocument(document);
            }
        }
    }

    private static void set(BytesRef text, Fetches fetches, int i) {
        text.bytes = fetches.bytes;
        text.offset = fetches.starts[i];
        text.length = fetches.lengths[i];
    }

    private static long bytes(Path directory) throws IOException {
        long bytes = 0;
        try (var files = Files.list(directory)) {
            for (Path one : files.toList()) bytes += Files.size(one);
        }
        return bytes;
    }

    /** The size of the files of each column, as JSON. */
    private static String columns(DirectoryReader reader, Path out) throws IOException {
        SegmentReader segment = (SegmentReader) reader.leaves().get(0).reader();
        List<String> columns = new ArrayList<>();
        for (FieldInfo field : segment.getFieldInfos()) {
            String suffix = field.getAttribute(PerFieldDocValuesFormat.PER_FIELD_SUFFIX_KEY);
            if (suffix == null) continue;
            String format = field.getAttribute(PerFieldDocValuesFormat.PER_FIELD_FORMAT_KEY);
            long bytes = 0;
            for (String extension : List.of("dvd", "dvm", "dvs")) {
                String name = segment.getSegmentName() + "_" + format + "_" + suffix + "." + extension;
                if (Files.exists(out.resolve(name))) bytes += Files.size(out.resolve(name));
            }
            columns.add("[\"" + field.name + "\"," + bytes + "]");
        }
        return columns.toString();
    }
}
