// The counts beside the results: facets and histograms.
//
// A facet with chosen values, and a histogram with a chosen range, are counted without their own condition,
// so that the other values stay in sight. So there is one question for all without a condition, and one for
// each with a condition.

import * as api from "../api/client";
import type { FacetAnswer, IndexInfo } from "../api/types";
import type { Chart } from "../charts/bins";
import { chartFacet, chartsOf } from "../charts/bins";
import { chosen, boundsOf, setBounds, without } from "../query/edit";
import { facetFields } from "./fields";
import type { Latest } from "./latest";
import { useLatest } from "./latest";
import type { PageState } from "./url";

/** Values of a facet that are counted. */
export const MOST_VALUES = 50;

export interface Aggregates {
  /** The answer for each text of a facet. */
  facets: Map<string, FacetAnswer>;
  partial: boolean;
}

interface Question {
  q: string;
  facets: string[];
}

export function valueFacet(field: string): string {
  return `${field}:${MOST_VALUES}`;
}

/** What to ask for the facets and histograms of a state. */
export function questions(info: IndexInfo, state: PageState): Question[] {
  const byQuery = new Map<string, string[]>();
  const add = (q: string, facet: string): void => {
    byQuery.set(q, [...(byQuery.get(q) ?? []), facet]);
  };
  for (const field of facetFields(info, state)) {
    const { included } = chosen(state.q, field);
    add(included.length > 0 ? without(state.q, field) : state.q, valueFacet(field));
  }
  for (const chart of chartsOf(info.fields, state.charts)) add(chartQuery(state.q, chart), chartFacet(chart));
  return [...byQuery].map(([q, facets]) => ({ q, facets }));
}

function chartQuery(q: string, chart: Chart): string {
  return boundsOf(q, chart.field) === null ? q : setBounds(q, chart.field, null);
}

/** The counts for a state; none for documents that are like another one. */
export function useAggregates(info: IndexInfo, state: PageState, again: number): Latest<Aggregates> {
  const asked = questions(info, state);
  const question =
    state.like === null && asked.length > 0
      ? JSON.stringify([state.index, info.generation, again, asked])
      : null;
  return useLatest(question, async (signal) => {
    const answers = await Promise.all(
      asked.map(({ q, facets }) =>
        api.search(state.index, { q: q === "" ? "*" : q, limit: 0, count: false, facet: facets }, signal),
      ),
    );
    const facets = answers.flatMap((answer) => answer.facets ?? []);
    return {
      facets: new Map(facets.map((facet) => [facet.facet, facet])),
      partial: answers.some((answer) => answer.partial) || facets.some((facet) => facet.partial === true),
    };
  });
}
