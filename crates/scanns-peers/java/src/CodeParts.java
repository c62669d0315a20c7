import java.io.IOException;
import org.apache.lucene.analysis.TokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.analysis.tokenattributes.PositionIncrementAttribute;

/**
 * Returns each identifier and its parts, in lower case. A part starts after an underscore, at a capital after
 * another letter or a digit, and at the last of several capitals before a small letter, as in
 * {@code HTTP|Server}. The first part has the position of the identifier.
 *
 * <p>WordDelimiterGraphFilter does not divide {@code HTTPServer}, so its tokens are not those of scanns.
 */
final class CodeParts extends TokenFilter {
    private final CharTermAttribute term = addAttribute(CharTermAttribute.class);
    private final PositionIncrementAttribute step = addAttribute(PositionIncrementAttribute.class);
    private final OffsetAttribute place = addAttribute(OffsetAttribute.class);
    private char[] word = new char[64];
    private int[] bounds = new int[16];
    /** Number of {@link #bounds}, and of those that were returned. */
    private int found;
    private int told;
    /** Where the identifier starts in the text. */
    private int base;

    CodeParts(TokenStream input) {
        super(input);
    }

    /** True for decimal digits, letters that are numbers, and other numbers. */
    static boolean isNumeric(int c) {
        return switch (Character.getType(c)) {
            case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER -> true;
            default -> false;
        };
    }

    /** The class of a character: U for a capital, D for a digit, L for another letter, _ for a joint. */
    private static char kind(int c) {
        if (c == '_') return '_';
        if (c < 128) return c >= 'A' && c <= 'Z' ? 'U' : c >= '0' && c <= '9' ? 'D' : 'L';
        return Character.isUpperCase(c) ? 'U' : isNumeric(c) ? 'D' : 'L';
    }

    private void part(int start, int end) {
        if (start == end) return;
        if (found + 2 > bounds.length) bounds = java.util.Arrays.copyOf(bounds, 2 * bounds.length);
        bounds[found++] = start;
        bounds[found++] = end;
    }

    /** Finds the parts of the identifier in {@link #term}, and makes it lower-case. */
    private void divide() {
        final int length = term.length();
        final char[] text = term.buffer();
        found = told = 0;
        int start = 0;
        int last = 0;
        char before = '_';
        char beforeThat = '_';
        for (int at = 0; at < length; ) {
            int c = Character.codePointAt(text, at, length);
            char kind = kind(c);
            if (before == '_') {
                start = at;
            } else if (kind == '_' || kind == 'U' && before != 'U') {
                part(start, at);
                start = at;
            } else if (kind == 'L' && before == 'U' && beforeThat == 'U') {
                part(start, last);
                start = last;
            }
            beforeThat = before;
            before = kind;
            last = at;
            at += Character.toChars(Character.toLowerCase(c), text, at);
        }
        if (before != '_') part(start, length);
    }

    @Override
    public boolean incrementToken() throws IOException {
        if (told < found) {
            clearAttributes();
            term.copyBuffer(word, bounds[told], bounds[told + 1] - bounds[told]);
            place.setOffset(base + bounds[told], base + bounds[told + 1]);
            step.setPositionIncrement(told == 0 ? 0 : 1);
            told += 2;
            return true;
        }
        do {
            if (!input.incrementToken()) return false;
            divide();
        } while (found == 0);
        base = place.startOffset();
        if (bounds[1] - bounds[0] == term.length()) {
            found = 0;
        } else {
            if (word.length < term.length()) word = new char[2 * term.length()];
            System.arraycopy(term.buffer(), 0, word, 0, term.length());
        }
        return true;
    }

    @Override
    public void reset() throws IOException {
        super.reset();
        found = told = 0;
    }
}
