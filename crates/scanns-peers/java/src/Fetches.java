import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Reads the file of fetches, see columns/fetches.rs. {@link #next} overwrites the previous fetch. */
final class Fetches implements Closeable {
    static final String[] STRINGS = {
        "id", "url_norm", "host", "domain", "public_suffix", "content_type_norm", "language"
    };
    static final String[] NUMBERS = {"crawl_year", "crawl_date", "status_code", "content_length"};

    private static final VarHandle SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final FileInputStream in;
    private int at;
    private int end;

    /** The buffer with the strings and tags. */
    final byte[] bytes = new byte[4 << 20];
    /** The starts of the strings and then of the tags in the buffer, and their lengths. */
    final int[] starts = new int[1024];
    final int[] lengths = new int[1024];
    final long[] numbers = new long[NUMBERS.length];
    int tags;

    Fetches(String path) throws IOException {
        in = new FileInputStream(path);
    }

    /** Reads the next fetch; false if there is none. */
    boolean next() throws IOException {
        if (!holds(4)) {
            if (at != end) throw new IOException("the file of fetches is truncated");
            return false;
        }
        final int size = (int) INT.get(bytes, at);
        at += 4;
        if (!holds(size)) throw new IOException("the file of fetches is truncated");
        final int next = at + size;
        for (int i = 0; i < STRINGS.length; i++) string(i);
        for (int i = 0; i < numbers.length; i++, at += 8) numbers[i] = (long) LONG.get(bytes, at);
        tags = (short) SHORT.get(bytes, at);
        at += 2;
        for (int i = 0; i < tags; i++) string(STRINGS.length + i);
        at = next;
        return true;
    }

    private void string(int i) {
        lengths[i] = (short) SHORT.get(bytes, at) & 0xffff;
        starts[i] = at + 2;
        at += 2 + lengths[i];
    }

    /** Makes {@code wanted} unread bytes available in the buffer. Returns false if the file ends before. */
    private boolean holds(int wanted) throws IOException {
        if (end - at >= wanted) return true;
        System.arraycopy(bytes, at, bytes, 0, end - at);
        end -= at;
        at = 0;
        end += in.readNBytes(bytes, end, bytes.length - end);
        return end >= wanted;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
