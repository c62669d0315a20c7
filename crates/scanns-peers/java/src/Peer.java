import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The adapter for Lucene: {@code Peer VERB --name value ... --flag ...} prints lines of JSON. The verbs are
 * build, merge, search, rank, columns-build, columns-ask, application-write, application-ask and warc-build, and
 * words for a fixture of tests. {@link Building}, {@link Merging}, {@link Asking}, {@link Ranking},
 * {@link ColumnBuilding}, {@link ColumnAsking}, {@link ApplicationWriting}, {@link ApplicationAsking},
 * {@link WarcBuilding} and {@link Words} implement them. protocol.rs, columns/protocol.rs,
 * application/protocol.rs and warc/peer.rs describe the options and the reports.
 */
final class Peer {
    private Peer() {}

    /** The options of the command line. */
    record Options(Map<String, String> values) {
        String text(String name) {
            String value = values.get(name);
            if (value == null) throw new IllegalArgumentException("option --" + name + " is missing");
            return value;
        }

        int number(String name) {
            return Integer.parseInt(text(name));
        }

        boolean flag(String name) {
            return values.containsKey(name);
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) throw new IllegalArgumentException("expected a verb, then options and flags");
        Map<String, String> values = new HashMap<>();
        for (int i = 1; i < arguments.length; i++) {
            boolean flag = i + 1 == arguments.length || arguments[i + 1].startsWith("--");
            values.put(arguments[i].substring(2), flag ? "" : arguments[++i]);
        }
        Options options = new Options(values);
        switch (arguments[0]) {
            case "build" -> Building.run(options);
            case "merge" -> Merging.run(options);
            case "search" -> Asking.run(options);
            case "rank" -> Ranking.run(options);
            case "columns-build" -> ColumnBuilding.run(options);
            case "columns-ask" -> ColumnAsking.run(options);
            case "application-write" -> ApplicationWriting.run(options);
            case "application-ask" -> ApplicationAsking.run(options);
            case "warc-build" -> WarcBuilding.run(options);
            case "words" -> Words.run(options);
            default -> throw new IllegalArgumentException("unknown verb " + arguments[0]);
        }
    }

    /** The number of bytes that this process has passed to the system for writing since it started. */
    static long bytesWritten() throws IOException {
        return procNumber("/proc/self/io", "wchar:");
    }

    /** The peak resident memory of this process, in bytes. */
    static long peakBytes() throws IOException {
        return procNumber("/proc/self/status", "VmHWM:") << 10;
    }

    private static long procNumber(String file, String name) throws IOException {
        for (String line : Files.readAllLines(Path.of(file)))
            if (line.startsWith(name)) return Long.parseLong(line.replaceAll("[^0-9]", ""));
        throw new IOException(file + " has no line " + name);
    }
}
