// The question for the hits of a page.

import type { Parameters } from "../api/client";
import * as api from "../api/client";
import type { DidYouMean, IndexInfo, SearchAnswer } from "../api/types";
import { byteOffset } from "../text/bytes";
import type { Asked } from "../text/copy-as";
import { shownFields, titleField } from "./fields";
import type { Latest } from "./latest";
import { useLatest } from "./latest";
import type { PageState } from "./url";

/** Hits on a page. */
export const PAGE_LENGTH = 20;

export function hitParameters(info: IndexInfo, state: PageState): Parameters {
  const title = titleField(info);
  const fields = [...shownFields(info, state), ...(title === null ? [] : [title])];
  return {
    q: state.q === "" ? "*" : state.q,
    limit: PAGE_LENGTH,
    sort: state.sort === "" ? undefined : state.sort,
    fields: fields.length === 0 ? undefined : [...new Set(fields)],
    snippets: info.snippets && state.q !== "" ? true : undefined,
    after: state.after.at(-1),
  };
}

export function useResults(info: IndexInfo, state: PageState, again: number): Latest<SearchAnswer> {
  const parameters = hitParameters(info, state);
  const question = JSON.stringify([state.index, info.generation, parameters, state.like, again]);
  return useLatest(question, (signal) => {
    if (state.like === null) return api.search(state.index, parameters, signal);
    const { q: _q, sort: _sort, ...rest } = parameters;
    return api.like(state.index, state.like, rest, signal);
  });
}

/**
 * The query that may be meant. A search tells it only if nothing matches, since similar words take time. So
 * the page asks again for hits that are shown already: other words of the query may have found them.
 */
export function useMeant(
  info: IndexInfo,
  state: PageState,
  results: Latest<SearchAnswer>,
): DidYouMean | null {
  const told = results.value?.did_you_mean ?? null;
  const asks =
    results.value !== null && told === null && state.q !== "" && state.like === null && !results.loading;
  const question = asks && state.after.length === 0 ? [state.index, info.generation, state.q] : null;
  const { value, of } = useLatest(question && JSON.stringify(question), (signal) =>
    api.suggest(state.index, state.q, byteOffset(state.q, state.q.length), signal, 1),
  );
  const isCurrent = question !== null && of === JSON.stringify(question);
  return told ?? (isCurrent ? (value?.did_you_mean ?? null) : null);
}

/** What "copy as" and downloads repeat. */
export function askedOf(info: IndexInfo, state: PageState, path: string): Asked {
  return {
    index: state.index,
    path,
    q: state.q,
    sort: state.sort,
    fields: shownFields(info, state),
    limit: PAGE_LENGTH,
    snippets: info.snippets && state.q !== "",
    like: state.like,
  };
}
