import java.io.IOException;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.StopFilter;
import org.apache.lucene.analysis.TokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.en.EnglishPossessiveFilter;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.util.UnicodeUtil;

/**
 * The analyzers of analyzer.rs, which find the tokens that scanns finds. {@code standard} and {@code english}
 * are the chains of StandardAnalyzer without stop words and of EnglishAnalyzer, but long words are cut instead
 * of split. {@code whitespace} is WhitespaceTokenizer with ASCII white space only. {@code code} has
 * {@link CodeParts}.
 */
final class Analyzers {
    /** The maximum length of a token in characters. The tokenizers split longer ones. */
    private static final int MOST = IndexWriter.MAX_TERM_LENGTH;

    private Analyzers() {}

    /** The analyzer with a name. {@code delimited} has none, because {@link Terms} finds its tokens in bytes. */
    static Analyzer of(String name) {
        return new Analyzer() {
            @Override
            protected TokenStreamComponents createComponents(String field) {
                return components(name);
            }
        };
    }

    private static Analyzer.TokenStreamComponents components(String name) {
        Tokenizer tokenizer =
                switch (name) {
                    case "standard", "english" -> words();
                    case "whitespace" -> new Separated();
                    case "code" -> new Identifiers();
                    default -> throw new IllegalArgumentException("unknown analyzer " + name);
                };
        TokenStream tokens =
                switch (name) {
                    case "standard" -> new LowerCaseFilter(tokenizer);
                    case "english" ->
                            new PorterStemFilter(
                                    new StopFilter(
                                            new LowerCaseFilter(new EnglishPossessiveFilter(tokenizer)),
                                            EnglishAnalyzer.ENGLISH_STOP_WORDS_SET));
                    case "code" -> new CodeParts(tokenizer);
                    default -> tokenizer;
                };
        return new Analyzer.TokenStreamComponents(tokenizer, new Cut(tokens));
    }

    private static Tokenizer words() {
        StandardTokenizer tokenizer = new StandardTokenizer();
        tokenizer.setMaxTokenLength(MOST);
        return tokenizer;
    }

    /** The characters between ASCII white space. */
    private static final class Separated extends CharTokenizer {
        Separated() {
            super(TokenStream.DEFAULT_TOKEN_ATTRIBUTE_FACTORY, MOST);
        }

        @Override
        protected boolean isTokenChar(int c) {
            return c != ' ' && (c < '\t' || c > '\r');
        }
    }

    /** Runs of letters, numbers and underscores. */
    private static final class Identifiers extends CharTokenizer {
        Identifiers() {
            super(TokenStream.DEFAULT_TOKEN_ATTRIBUTE_FACTORY, MOST);
        }

        @Override
        protected boolean isTokenChar(int c) {
            if (c < 128) return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
            return Character.isAlphabetic(c) || CodeParts.isNumeric(c);
        }
    }

    /** Cuts terms that are too long for an index. */
    private static final class Cut extends TokenFilter {
        private final CharTermAttribute term = addAttribute(CharTermAttribute.class);

        Cut(TokenStream input) {
            super(input);
        }

        @Override
        public boolean incrementToken() throws IOException {
            if (!input.incrementToken()) return false;
            // A character has up to three bytes.
            if (term.length() > MOST / 3
                    && UnicodeUtil.calcUTF16toUTF8Length(term, 0, term.length()) > MOST)
                term.setLength(MOST / 3);
            return true;
        }
    }
}
