// The results: how many there are, the list or the table of a page of them, and the way to the next page.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { SearchAnswer } from "../api/types";
import type { Latest } from "../state/latest";
import { usePage } from "../state/page";
import { PAGE_LENGTH } from "../state/results";
import * as format from "../text/format";
import { HitItem } from "./hit";
import { HitTable } from "./hit-table";
import { Icon } from "./icon";
import { Notice } from "./notice";

/** Screens narrower than this show no tables of results. */
const NARROW = "(max-width: 720px)";

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const follow = (): void => setNarrow(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return narrow;
}

/** The number of hits in words: "1,234 documents, in 1.2 ms". */
export function CountLine({ results }: { results: Latest<SearchAnswer> }): JSX.Element {
  const { state } = usePage();
  const { value } = results;
  if (value === null)
    return (
      <p class="count" role="status">
        {results.problem === null ? "Searching …" : "No answer"}
      </p>
    );
  const { count } = value;
  const noun = count === 1 ? "document" : "documents";
  const many =
    count === null ? "Some documents" : `${format.count(count)}${value.partial ? " or more" : ""} ${noun}`;
  const first = state.after.length * PAGE_LENGTH;
  return (
    <p class="count" role="status">
      <strong>{count === 0 ? "No document matches" : many}</strong>
      {state.like === null ? "" : " like this one"}
      <span class="fine">
        {first > 0 && value.hits.length > 0
          ? ` · ${format.count(first + 1)} to ${format.count(first + value.hits.length)}`
          : ""}
        {` · ${format.took(value.took)}`}
      </span>
    </p>
  );
}

/** What a reader must know about the answer before he relies on it. */
export function Caveats({ answer }: { answer: SearchAnswer | null }): JSX.Element | null {
  const { info } = usePage();
  if (answer === null) return null;
  return (
    <>
      {answer.partial && (
        <p class="notice warning" role="status">
          <Icon name="warning" /> This is only a part of the answer: {answer.partial_reason ?? "time was up"}.
          Hits and counts are what was found until then.
        </p>
      )}
      {answer.incomplete && info.completeness === null && (
        <p class="notice warning" role="status">
          <Icon name="warning" /> Documents may be missing: {answer.incomplete.text}
        </p>
      )}
    </>
  );
}

interface ResultsProperties {
  results: Latest<SearchAnswer>;
  retry: () => void;
}

export function Results({ results, retry }: ResultsProperties): JSX.Element {
  const { info } = usePage();
  const narrow = useNarrow();
  const { value, problem, loading } = results;
  if (problem !== null) {
    if (problem.ofQuery) return <p class="fine empty">Correct the query above.</p>;
    return problem.body.parameter === "after" ? <Outdated /> : <Notice problem={problem} retry={retry} />;
  }
  if (value === null) return <p class="fine empty" />;
  const table = !narrow && !info.snippets;
  return (
    <div class="results" aria-busy={loading}>
      {value.hits.length === 0 && <Nothing />}
      {table && value.hits.length > 0 ? (
        <HitTable hits={value.hits} />
      ) : (
        <ol class="hits" start={value.hits[0]?.rank ?? 1}>
          {value.hits.map((hit) => (
            <HitItem key={hit.key_bytes ?? hit.key} hit={hit} />
          ))}
        </ol>
      )}
      <Pager answer={value} />
    </div>
  );
}

/** The page of a token that belongs to an earlier commit. */
function Outdated(): JSX.Element {
  const { go } = usePage();
  return (
    <p class="empty">
      The index has changed since the first page was shown.{" "}
      <button type="button" class="link" onClick={() => go({ after: [] })}>
        Back to the first page
      </button>
    </p>
  );
}

function Nothing(): JSX.Element {
  const { state, info, go } = usePage();
  if (info.documents === 0) return <p class="empty">This index is empty. Add documents with scanns index.</p>;
  return (
    <p class="empty">
      {state.after.length > 0
        ? "There are no more documents."
        : "Try fewer words or conditions, or a prefix such as licen*."}{" "}
      <button type="button" class="link" onClick={() => go({ q: "", after: [] })}>
        Show all documents
      </button>
    </p>
  );
}

function Pager({ answer }: { answer: SearchAnswer }): JSX.Element | null {
  const { state, go } = usePage();
  const { after } = state;
  const next = answer.hits.length < PAGE_LENGTH ? null : answer.after;
  if (after.length === 0 && next === null) return null;
  const turn = (tokens: string[]): void => {
    go({ after: tokens, open: null });
    scrollTo({ top: 0 });
  };
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" disabled={after.length === 0} onClick={() => turn(after.slice(0, -1))}>
        Previous
      </button>
      <span>page {after.length + 1}</span>
      <button type="button" disabled={next === null} onClick={() => next !== null && turn([...after, next])}>
        Next
      </button>
    </nav>
  );
}
