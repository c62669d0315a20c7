import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.internal.hppc.IntHashSet;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MultiCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.grouping.AllGroupsCollector;
import org.apache.lucene.search.grouping.FirstPassGroupingCollector;
import org.apache.lucene.search.grouping.GroupDocs;
import org.apache.lucene.search.grouping.SearchGroup;
import org.apache.lucene.search.grouping.TermGroupSelector;
import org.apache.lucene.search.grouping.TopGroups;
import org.apache.lucene.search.grouping.TopGroupsCollector;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;

/** The operations of columns/protocol.rs on the hits of a query, in an index of one segment. */
final class ColumnIndex {
    static final int FIRST = 20;
    static final int GROUPS = 10;
    private static final String GROUP = "url_norm";
    private static final String LENGTH = "content_length";
    private static final String[] FETCHED = {
        "id", "url_norm", "host", "domain", "crawl_date", "content_type_norm", "status_code", "content_length", "language"
    };

    private final IndexSearcher searcher;
    private final LeafReader leaf;
    private final Sort byLength = new Sort(new SortField(LENGTH, SortField.Type.LONG, true));

    /** A group: its value, its number of documents, and its head. */
    record Group(BytesRef value, long count, int head) {}

    /** The number of all groups, and the first of them. */
    record Groups(long total, List<Group> first) {}

    ColumnIndex(IndexSearcher searcher) {
        this.searcher = searcher;
        leaf = searcher.getIndexReader().leaves().get(0).reader();
    }

    LeafReader leaf() {
        return leaf;
    }

    TopFieldDocs sort(Query query) throws IOException {
        return searcher.search(query, FIRST, byLength);
    }

    List<ColumnFacets.Facet> facets(Query query) throws IOException {
        return ColumnFacets.count(searcher, leaf, query);
    }

    /** Groups with the grouping module, in two passes. The first pass also counts the groups. */
    @SuppressWarnings("deprecation") // No collector manager combines several of these collectors.
    Groups groups(Query query) throws IOException {
        var first = new FirstPassGroupingCollector<BytesRef>(new TermGroupSelector(GROUP), byLength, GROUPS);
        var all = new AllGroupsCollector<BytesRef>(new TermGroupSelector(GROUP));
        searcher.search(query, MultiCollector.wrap(first, all));
        Collection<SearchGroup<BytesRef>> top = first.getTopGroups(0);
        if (top == null) return new Groups(0, List.of());
        var second = new TopGroupsCollector<BytesRef>(new TermGroupSelector(GROUP), top, byLength, byLength, 1, false);
        searcher.search(query, second);
        TopGroups<BytesRef> groups = second.getTopGroups(0);
        List<Group> found = new ArrayList<>();
        for (GroupDocs<BytesRef> group : groups.groups)
            found.add(new Group(group.groupValue(), group.totalHits().value(), group.scoreDocs()[0].doc));
        return new Groups(all.getGroupCount(), found);
    }

    /** Groups by the numbers of the values, as custom code for one segment would. */
    Groups groupsByHand(Query query) throws IOException {
        int[] docs = ColumnFacets.docs(searcher, query);
        SortedDocValues values = DocValues.getSorted(leaf, GROUP);
        NumericDocValues lengths = DocValues.getNumeric(leaf, LENGTH);
        final boolean few = docs.length < values.getValueCount() / 64;
        IntHashSet some = few ? new IntHashSet(docs.length) : null;
        FixedBitSet seen = few ? null : new FixedBitSet(values.getValueCount());
        int[] ords = new int[docs.length];
        long[] best = new long[GROUPS];
        int[] bestOrds = new int[GROUPS];
        int[] heads = new int[GROUPS];
        int held = 0;
        for (int i = 0; i < docs.length; i++) {
            values.advanceExact(docs[i]);
            lengths.advanceExact(docs[i]);
            int ord = values.ordValue();
            ords[i] = ord;
            if (few) some.add(ord);
            else seen.set(ord);
            long length = lengths.longValue();
            if (held == GROUPS && length <= best[GROUPS - 1]) continue;
            int place = 0;
            while (place < held && bestOrds[place] != ord) place++;
            if (place < held && best[place] >= length) continue;
            if (place == held && held < GROUPS) held++;
            if (place == GROUPS) place--;
            for (; place > 0 && best[place - 1] < length; place--) {
                best[place] = best[place - 1];
                bestOrds[place] = bestOrds[place - 1];
                heads[place] = heads[place - 1];
            }
            best[place] = length;
            bestOrds[place] = ord;
            heads[place] = docs[i];
        }
        long[] counts = new long[held];
        int[] sorted = Arrays.copyOf(bestOrds, held);
        Arrays.sort(sorted);
        for (int ord : ords) {
            int place = Arrays.binarySearch(sorted, ord);
            if (place >= 0) counts[place]++;
        }
        List<Group> found = new ArrayList<>();
        for (int i = 0; i < held; i++) {
            long count = counts[Arrays.binarySearch(sorted, bestOrds[i])];
            found.add(new Group(BytesRef.deepCopyOf(values.lookupOrd(bestOrds[i])), count, heads[i]));
        }
        return new Groups(few ? some.size() : seen.cardinality(), found);
    }

    /** Reads the fields of hits, column by column, in the order of documents. */
    BytesRef[][] fetch(ScoreDoc[] hits) throws IOException {
        long[] order = new long[hits.length];
        for (int i = 0; i < hits.length; i++) order[i] = (long) hits[i].doc << 32 | i;
        Arrays.sort(order);
        BytesRef[][] rows = new BytesRef[hits.length][FETCHED.length];
        for (int column = 0; column < FETCHED.length; column++) {
            String name = FETCHED[column];
            if (Arrays.asList(Fetches.NUMBERS).contains(name)) {
                NumericDocValues values = DocValues.getNumeric(leaf, name);
                for (long one : order) {
                    values.advanceExact((int) (one >> 32));
                    rows[(int) one][column] = digits(values.longValue());
                }
            } else {
                SortedDocValues values = DocValues.getSorted(leaf, name);
                for (long one : order) {
                    values.advanceExact((int) (one >> 32));
                    rows[(int) one][column] = BytesRef.deepCopyOf(values.lookupOrd(values.ordValue()));
                }
            }
        }
        return rows;
    }

    static BytesRef digits(long number) {
        return new BytesRef(Long.toString(number).getBytes(StandardCharsets.US_ASCII));
    }

    BytesRef id(int doc) throws IOException {
        SortedDocValues ids = DocValues.getSorted(leaf, "id");
        ids.advanceExact(doc);
        return BytesRef.deepCopyOf(ids.lookupOrd(ids.ordValue()));
    }

    BytesRef export(Query query, boolean inOrder) throws IOException {
        return ColumnExport.rows(leaf, ColumnFacets.docs(searcher, query), inOrder);
    }
}
