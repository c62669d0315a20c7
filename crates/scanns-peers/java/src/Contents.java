import java.io.IOException;
import java.util.Locale;
import java.util.zip.CRC32;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.util.BytesRef;

/** Reads tokens and stored text of an index back, for the comparison with other engines. See contents.rs. */
final class Contents {
    static final String FIELD = "content";

    private Contents() {}

    /** The number of tokens in all documents, from the statistics of the index. */
    static long tokens(IndexReader reader) throws IOException {
        long tokens = 0;
        for (LeafReaderContext leaf : reader.leaves()) {
            var terms = leaf.reader().terms(Building.FIELD);
            if (terms != null) tokens += terms.getSumTotalTermFreq();
        }
        return tokens;
    }

    /** The number of ASCII bytes in all stored documents, and the sum of the CRC-32 of each one's ASCII. */
    static String digest(IndexReader reader) throws IOException {
        long bytes = 0;
        long crcs = 0;
        byte[] ascii = new byte[1 << 20];
        CRC32 crc = new CRC32();
        for (LeafReaderContext leaf : reader.leaves()) {
            StoredFields stored = leaf.reader().storedFields();
            for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
                BytesRef content = stored.document(doc).getBinaryValue(FIELD);
                if (ascii.length < content.length) ascii = new byte[content.length];
                int kept = 0;
                for (int i = 0; i < content.length; i++) {
                    byte one = content.bytes[content.offset + i];
                    if (one >= 0) ascii[kept++] = one;
                }
                crc.reset();
                crc.update(ascii, 0, kept);
                bytes += kept;
                crcs += crc.getValue();
            }
        }
        return String.format(Locale.ROOT, "{\"bytes\":%d,\"crcs\":%d}", bytes, crcs);
    }
}
