import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * Reads the responses of a web archive one after the other. The file may be compressed with gzip, in one
 * member or in many. Bodies must not have a transfer or content encoding.
 */
final class WarcRecords implements Closeable {
    /** Bytes that are read or decompressed at once. */
    private static final int BUFFER = 1 << 16;

    private final Path path;
    private final InputStream in;
    private byte[] line = new byte[1 << 10];
    private byte[] block = new byte[1 << 16];

    /** A page: its identifier, and its HTML. */
    record Page(String id, String html) {}

    WarcRecords(Path path) throws IOException {
        this.path = path;
        InputStream file = new BufferedInputStream(Files.newInputStream(path), BUFFER);
        boolean packed = path.toString().endsWith(".gz");
        in = packed ? new BufferedInputStream(new GZIPInputStream(file, BUFFER), BUFFER) : file;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    /** The next response, or null at the end. */
    Page next() throws IOException {
        while (true) {
            String version = line();
            while (version != null && version.isEmpty()) version = line();
            if (version == null) return null;
            if (!version.startsWith("WARC/")) throw new IOException(path + " has no record here: " + version);
            Map<String, String> fields = new HashMap<>();
            for (String field = line(); field != null && !field.isEmpty(); field = line()) put(fields, field);
            int length = Integer.parseInt(fields.getOrDefault("content-length", "0"));
            if (!"response".equalsIgnoreCase(fields.get("warc-type"))) {
                in.skipNBytes(length);
                continue;
            }
            if (block.length < length) block = new byte[length];
            if (in.readNBytes(block, 0, length) != length) throw new EOFException(path + " ends in a record");
            return page(fields.getOrDefault("warc-record-id", ""), length);
        }
    }

    /** The page of the HTTP response in the first bytes of the block. */
    private Page page(String id, int length) {
        Map<String, String> fields = new HashMap<>();
        int at = 0;
        while (at < length) {
            int end = at;
            while (end < length && block[end] != '\n') end++;
            int last = end > at && block[end - 1] == '\r' ? end - 1 : end;
            String field = new String(block, at, last - at, StandardCharsets.ISO_8859_1);
            at = Math.min(end + 1, length);
            if (field.isEmpty()) break;
            put(fields, field);
        }
        Charset charset = charset(fields.getOrDefault("content-type", ""));
        return new Page(id, new String(block, at, length - at, charset));
    }

    /** The character encoding that a media type names, or UTF-8. */
    private static Charset charset(String type) {
        int at = type.toLowerCase(Locale.ROOT).indexOf("charset=");
        if (at < 0) return StandardCharsets.UTF_8;
        String name = type.substring(at + "charset=".length()).split(";", 2)[0].replace('"', ' ').trim();
        try {
            return Charset.forName(name);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException unknown) {
            return StandardCharsets.UTF_8;
        }
    }

    private static void put(Map<String, String> fields, String field) {
        int colon = field.indexOf(':');
        if (colon < 0) return;
        fields.put(field.substring(0, colon).toLowerCase(Locale.ROOT), field.substring(colon + 1).trim());
    }

    /** The next line without its end, or null at the end of the file. */
    private String line() throws IOException {
        int length = 0;
        int next = in.read();
        if (next < 0) return null;
        for (; next >= 0 && next != '\n'; next = in.read()) {
            if (length == line.length) line = java.util.Arrays.copyOf(line, length * 2);
            line[length++] = (byte) next;
        }
        if (length > 0 && line[length - 1] == '\r') length--;
        return new String(line, 0, length, StandardCharsets.UTF_8);
    }
}
