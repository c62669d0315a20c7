import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.RegexpQuery;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TermRangeQuery;
import org.apache.lucene.search.WildcardQuery;
import org.apache.lucene.util.BytesRef;

/**
 * Parses queries in the syntax of form.rs: words separated by single spaces, in prefix notation.
 *
 * <p>Prefixes, wildcards, expressions, ranges and sets have a score of 1, which is Lucene's default. A list
 * of only excluded clauses matches all other documents. In Lucene this needs an additional clause that
 * matches all documents.
 */
final class Form {
    private static final String FIELD = Building.FIELD;

    private final String[] words;
    private final List<String> terms = new ArrayList<>();
    private int at;

    /** A query and its terms, including those in lists and phrases, but not patterns. */
    record Read(Query query, List<String> terms) {}

    private Form(String line) {
        words = line.split(" ");
    }

    static Read read(String line) {
        Form form = new Form(line);
        Query query = form.query();
        if (form.at < form.words.length) throw new IllegalArgumentException("more words after the query: " + line);
        return new Read(query, form.terms);
    }

    private String word() {
        return words[at++];
    }

    private int number() {
        return Integer.parseInt(word());
    }

    private static Term term(String text) {
        return new Term(FIELD, text);
    }

    private Query query() {
        String kind = word();
        return switch (kind) {
            case "term" -> {
                terms.add(words[at]);
                yield new TermQuery(term(word()));
            }
            case "all" -> MatchAllDocsQuery.INSTANCE;
            case "exists" -> new WildcardQuery(term("*"));
            case "phrase" -> phrase();
            case "prefix" -> new PrefixQuery(term(word()));
            case "wildcard" -> new WildcardQuery(term(escaped(word())));
            case "regex" -> new RegexpQuery(term(word()));
            case "fuzzy" -> {
                int edits = number();
                yield new FuzzyQuery(term(word()), edits);
            }
            case "range" -> range();
            case "set" -> set();
            case "boost" -> {
                float boost = Float.parseFloat(word());
                yield new BoostQuery(query(), boost);
            }
            case "bool" -> list();
            default -> throw new IllegalArgumentException(kind + " is not a kind of query");
        };
    }

    /** Escapes backslashes, which have no special meaning in the syntax of form.rs. */
    private static String escaped(String pattern) {
        return pattern.replace("\\", "\\\\");
    }

    private Query phrase() {
        PhraseQuery.Builder phrase = new PhraseQuery.Builder();
        phrase.setSlop(number());
        for (int left = number(); left > 0; left--) {
            int place = number();
            terms.add(words[at]);
            phrase.add(term(word()), place);
        }
        return phrase.build();
    }

    private Query range() {
        boolean[] included = new boolean[2];
        BytesRef[] bounds = new BytesRef[2];
        for (int i = 0; i < 2; i++) {
            String sign = word();
            included[i] = !sign.equals("{");
            if (!sign.equals("-")) bounds[i] = new BytesRef(word().getBytes(StandardCharsets.UTF_8));
        }
        return new TermRangeQuery(FIELD, bounds[0], bounds[1], included[0], included[1]);
    }

    private Query set() {
        List<BytesRef> set = new ArrayList<>();
        for (int left = number(); left > 0; left--) set.add(new BytesRef(word().getBytes(StandardCharsets.UTF_8)));
        return new TermInSetQuery(FIELD, set);
    }

    private Query list() {
        BooleanQuery.Builder list = new BooleanQuery.Builder();
        list.setMinimumNumberShouldMatch(number());
        final int count = number();
        boolean chosen = false;
        for (int left = count; left > 0; left--) {
            Occur occur =
                    switch (word()) {
                        case "+" -> Occur.MUST;
                        case "|" -> Occur.SHOULD;
                        default -> Occur.MUST_NOT;
                    };
            chosen |= occur != Occur.MUST_NOT;
            list.add(query(), occur);
        }
        if (count > 0 && !chosen) list.add(MatchAllDocsQuery.INSTANCE, Occur.FILTER);
        return list.build();
    }
}
