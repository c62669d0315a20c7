import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.BytesTermAttribute;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.util.BytesRef;

/** Splits bytes at white space and / into terms, without copying them or converting them to characters. */
final class Terms extends TokenStream {
    private static final boolean[] SEPARATES = new boolean[256];

    static {
        SEPARATES[' '] = SEPARATES['/'] = true;
        for (int i = '\t'; i <= '\r'; i++) SEPARATES[i] = true;
    }

    private final BytesTermAttribute attribute = addAttribute(BytesTermAttribute.class);
    private final BytesRef term = new BytesRef();
    private byte[] text;
    private int at;
    private int end;

    /** Sets the text to split next. */
    void set(byte[] text, int start, int end) {
        this.text = text;
        this.at = start;
        this.end = end;
    }

    @Override
    public boolean incrementToken() {
        final byte[] text = this.text;
        final int end = this.end;
        final boolean[] separates = SEPARATES;
        int p = at;
        while (p < end && separates[text[p] & 255]) p++;
        final int start = p;
        while (p < end && !separates[text[p] & 255]) p++;
        at = p;
        if (start == p) return false;
        term.bytes = text;
        term.offset = start;
        // Lucene refuses longer terms.
        term.length = Math.min(p - start, IndexWriter.MAX_TERM_LENGTH);
        attribute.setBytesRef(term);
        return true;
    }

    @Override
    public void reset() {
        clearAttributes();
        attribute.setBytesRef(term);
    }
}
