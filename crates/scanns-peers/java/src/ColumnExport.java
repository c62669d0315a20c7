import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BytesRef;

/**
 * Exports rows of id, URL, date and length by descending id. Values are read in the order of documents,
 * because columns can only be read forward. Terms are read in the order of the output, or in the order of
 * their numbers, so that each block of a dictionary is read once.
 */
final class ColumnExport {
    private byte[] out = new byte[1 << 16];
    private int length;

    private ColumnExport() {}

    static BytesRef rows(LeafReader leaf, int[] docs, boolean inOrder) throws IOException {
        SortedDocValues ids = DocValues.getSorted(leaf, "id");
        SortedDocValues urls = DocValues.getSorted(leaf, "url_norm");
        int[] idOrds = ords(ids, docs);
        int[] urlOrds = ords(urls, docs);
        long[] dates = numbers(DocValues.getNumeric(leaf, "crawl_date"), docs);
        long[] lengths = numbers(DocValues.getNumeric(leaf, "content_length"), docs);
        long[] order = byOrd(idOrds);
        Texts idTexts = inOrder ? null : new Texts(ids, idOrds);
        Texts urlTexts = inOrder ? null : new Texts(urls, urlOrds);
        ColumnExport export = new ColumnExport();
        for (int i = order.length - 1; i >= 0; i--) {
            int row = (int) order[i];
            if (inOrder) {
                export.put(ids.lookupOrd(idOrds[row]));
                export.put((byte) ',');
                export.put(urls.lookupOrd(urlOrds[row]));
            } else {
                export.put(idTexts.row(row));
                export.put((byte) ',');
                export.put(urlTexts.row(row));
            }
            export.put((byte) ',');
            export.put(dates[row]);
            export.put((byte) ',');
            export.put(lengths[row]);
            export.put((byte) '\n');
        }
        return new BytesRef(export.out, 0, export.length);
    }

    private static int[] ords(SortedDocValues values, int[] docs) throws IOException {
        int[] ords = new int[docs.length];
        for (int i = 0; i < docs.length; i++) {
            values.advanceExact(docs[i]);
            ords[i] = values.ordValue();
        }
        return ords;
    }

    private static long[] numbers(NumericDocValues values, int[] docs) throws IOException {
        long[] numbers = new long[docs.length];
        values.longValues(docs.length, docs, numbers, 0);
        return numbers;
    }

    /** Sorts rows by the numbers of their terms. An entry is the number, shifted by 32 bits, and the row. */
    private static long[] byOrd(int[] ords) {
        long[] order = new long[ords.length];
        for (int i = 0; i < ords.length; i++) order[i] = (long) ords[i] << 32 | i;
        Arrays.sort(order);
        return order;
    }

    /** The terms of all rows, concatenated. */
    private static final class Texts {
        private final int[] from;
        private final int[] to;
        private final BytesRef one = new BytesRef();

        Texts(SortedDocValues values, int[] ords) throws IOException {
            from = new int[ords.length];
            to = new int[ords.length];
            byte[] bytes = new byte[32 * ords.length + 16];
            int end = 0;
            int begin = 0;
            int before = -1;
            for (long next : byOrd(ords)) {
                int ord = (int) (next >> 32);
                if (ord != before) {
                    BytesRef term = values.lookupOrd(ord);
                    bytes = ArrayUtil.grow(bytes, end + term.length);
                    System.arraycopy(term.bytes, term.offset, bytes, end, term.length);
                    begin = end;
                    end += term.length;
                    before = ord;
                }
                from[(int) next] = begin;
                to[(int) next] = end;
            }
            one.bytes = bytes;
        }

        BytesRef row(int row) {
            one.offset = from[row];
            one.length = to[row] - from[row];
            return one;
        }
    }

    private void put(byte one) {
        if (length == out.length) out = ArrayUtil.grow(out);
        out[length++] = one;
    }

    private void put(BytesRef text) {
        out = ArrayUtil.grow(out, length + text.length);
        System.arraycopy(text.bytes, text.offset, out, length, text.length);
        length += text.length;
    }

    /** Writes a number that is not negative. */
    private void put(long number) {
        int digits = 1;
        for (long rest = number / 10; rest > 0; rest /= 10) digits++;
        out = ArrayUtil.grow(out, length + digits);
        for (int at = length + digits; at > length; number /= 10) out[--at] = (byte) ('0' + number % 10);
        length += digits;
    }
}
