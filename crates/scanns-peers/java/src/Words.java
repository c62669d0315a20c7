import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.util.Version;

/**
 * Prints where StandardAnalyzer finds words, as the tests of the tokenizer read it: for every character in
 * several contexts, for random strings, for all strings of four characters of different classes, and the
 * lower case of every character.
 */
final class Words {
    /** Texts around a character, which is {@link #HOLE} in them. */
    private static final String[] CONTEXTS = {
        "#", "a#", "#b", "a#b", "1#2", "a # b", "##", "a\u30a2#c", "\u30a2#", "#\u0301", "\u05d0 #", "\u05d0#\u05d0",
        "\u05d0\"#", "\u05d0'#", "a.#", "a'#", "a:#", "1.#", "1,#", "#'a", "#.1", "_#", "_#_", "#\u200d#",
        "\u200d#", "\u263a#", "\u263a\u200d#", "\u263a\ufe0f#", "\u263a\ufe0f\u200d#", "#\ufe0f", "#\ufe0e",
        "#\ud83c\udffd", "\ud83c\udffd#", "*#", "*\ufe0f#", "#\u20e3", "\ud83c\udde9#", "\ud83c\udde9#\ud83c\uddea",
        "\u0e01#", "\u0e01#\u0e01", "\u6f22#", "\uac00#", "#\udb40\udc67\udb40\udc7f",
        "#\ufe0f\udb40\udc67\udb40\udc7f", "\u24c2#", "\u24c2\u200d#",
    };

    private static final char HOLE = '#';

    /** A character of each class that the tokenizer distinguishes, and some more scripts. */
    private static final String CLASSES = " a1_.:,'\"*\u0301\u05d0\u0660\u0e01\u0e31\uac00\u200d\u20e3\u24c2\u6f22"
        + "\u30a2\u3042\ufe0e\ufe0f\u263a\ud83c\udde9\ud83c\udffd\udb40\udc67\udb40\udc7f";

    private static final Analyzer ANALYZER = new StandardAnalyzer();

    private Words() {}

    /** A word from one code point to another. */
    private record Span(int start, int end) {}

    private static List<Span> spans(String text) throws IOException {
        List<Span> found = new ArrayList<>();
        try (TokenStream stream = ANALYZER.tokenStream("text", text)) {
            OffsetAttribute offsets = stream.addAttribute(OffsetAttribute.class);
            stream.reset();
            while (stream.incrementToken())
                found.add(new Span(
                    text.codePointCount(0, offsets.startOffset()), text.codePointCount(0, offsets.endOffset())));
            stream.end();
        }
        return found;
    }

    /** Spans as text: {@code 0-1 2-3}. */
    private static String spansText(String text) throws IOException {
        StringBuilder out = new StringBuilder();
        for (Span span : spans(text)) {
            if (!out.isEmpty()) out.append(' ');
            out.append(span.start).append('-').append(span.end);
        }
        return out.toString();
    }

    /** The code points of a text in base 16. */
    private static String hex(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints().forEach(c -> out.append(out.isEmpty() ? "" : " ").append(Integer.toHexString(c)));
        return out.toString();
    }

    static void run(Peer.Options options) throws IOException {
        PrintStream out = System.out;
        out.println("# Where StandardAnalyzer of Lucene " + Version.LATEST + " finds words. Lower case is that of Java "
            + Runtime.version().feature() + ".");
        out.println("# Printed by `Peer words --strings N` of crates/scanns-peers/java.");
        characters(out);
        lowerCase(out);
        randomStrings(out, options.number("strings"));
        shortStrings(out);
    }

    private static void characters(PrintStream out) throws IOException {
        out.println("contexts");
        for (String context : CONTEXTS) out.println(hex(context));
        Map<String, Integer> behaviours = new LinkedHashMap<>();
        StringBuilder runs = new StringBuilder();
        int last = -1;
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            if (c == Character.MIN_SURROGATE) c = Character.MAX_SURROGATE + 1;
            List<String> all = new ArrayList<>();
            for (String context : CONTEXTS)
                all.add(spansText(context.replace(String.valueOf(HOLE), Character.toString(c))));
            int number = behaviours.computeIfAbsent(String.join(",", all), key -> behaviours.size());
            if (number != last) runs.append(Integer.toHexString(c)).append(' ').append(number).append('\n');
            last = number;
        }
        out.println("behaviours");
        behaviours.keySet().forEach(out::println);
        out.println("runs");
        out.print(runs);
    }

    private static void lowerCase(PrintStream out) {
        out.println("lower");
        int lastStep = 0;
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            int step = Character.toLowerCase(c) - c;
            // Runs begin where the distance changes.
            if (step != lastStep) out.println(Integer.toHexString(c) + " " + step);
            lastStep = step;
        }
    }

    private static void randomStrings(PrintStream out, int count) throws IOException {
        out.println("strings");
        int[] classes = CLASSES.codePoints().toArray();
        Random random = new Random(29);
        for (int i = 0; i < count; i++) {
            // Few different characters make long words.
            int kinds = 2 + random.nextInt(classes.length - 2);
            int[] some = random.ints(kinds, 0, classes.length).map(at -> classes[at]).toArray();
            StringBuilder text = new StringBuilder();
            random.ints(4 + random.nextInt(12), 0, kinds).forEach(at -> text.appendCodePoint(some[at]));
            StringBuilder letters = new StringBuilder();
            text.codePoints().forEach(c -> {
                for (int at = 0; at < classes.length; at++)
                    if (classes[at] == c) letters.append((char) ('A' + at));
            });
            out.println(letters + "\t" + spansText(text.toString()));
        }
    }

    /** A checksum of the words of all strings of four classes, by the first two. */
    private static void shortStrings(PrintStream out) throws IOException {
        int[] classes = CLASSES.codePoints().toArray();
        out.println("classes");
        out.println(hex(CLASSES));
        out.println("checksums");
        for (int a : classes) for (int b : classes) {
            int sum = 0;
            for (int c : classes) for (int d : classes) {
                for (Span span : spans(new String(new int[] {a, b, c, d}, 0, 4)))
                    sum = sum * 31 + span.start * 5 + span.end;
                sum = sum * 31 + 1;
            }
            out.println(Integer.toHexString(sum));
        }
    }
}
