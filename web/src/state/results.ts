// The question for the hits of a page.

import type { Parameters } from "../api/client";
import * as api from "../api/client";
import type { IndexInfo, SearchAnswer } from "../api/types";
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
