// The state of the page is the query of its URL, so that a link shows the same, and back and forward work.

import type { DocumentKey } from "../text/keys";

export type View = "results" | "map" | "owners" | "growth";
export type Pane = "preview" | "why";
export type Measure = "size" | "count";

export interface PageState {
  index: string;
  q: string;
  /** As `--sort`; empty for the best first. */
  sort: string;
  /** Fields to show; null for those that suit the index. */
  fields: string[] | null;
  /** Tokens of the pages up to this one; empty on the first page. */
  after: string[];
  view: View;
  /** The directory of the map; empty for the top. */
  map: string;
  by: Measure;
  /** The index of the state before, which the growth is counted from; empty for none. */
  with: string;
  /** The directory of the growth; null for the top. */
  below: DocumentKey | null;
  /** The document whose like are shown. */
  like: DocumentKey | null;
  /** The document in the pane at the side. */
  open: DocumentKey | null;
  pane: Pane;
  /** True if the dialog about what could not be read is open. */
  coverage: boolean;
  /** Fields of the facets; null for those that suit the index. */
  facets: string[] | null;
  /** Fields of the histograms; null for those that suit the index. */
  charts: string[] | null;
}

export const START: PageState = {
  index: "",
  q: "",
  sort: "",
  fields: null,
  after: [],
  view: "results",
  map: "",
  by: "size",
  with: "",
  below: null,
  like: null,
  open: null,
  pane: "preview",
  coverage: false,
  facets: null,
  charts: null,
};

/** The number of pages back that a URL remembers. */
const PAGES = 50;

function one<T extends string>(text: string | null, allowed: readonly T[], otherwise: T): T {
  return allowed.find((each) => each === text) ?? otherwise;
}

function readKey(query: URLSearchParams, name: string): DocumentKey | null {
  const text = query.get(name);
  return text === null ? null : { text, bytes: query.get(`${name}_bytes`) };
}

/** A list without empty names; null if it is not in the query. */
function readList(query: URLSearchParams, name: string): string[] | null {
  const text = query.get(name);
  return text === null ? null : text.split(",").filter((each) => each !== "");
}

export function readState(search: string): PageState {
  const query = new URLSearchParams(search);
  return {
    index: query.get("index") ?? "",
    q: query.get("q") ?? "",
    sort: query.get("sort") ?? "",
    fields: readList(query, "fields"),
    after: query.getAll("after").slice(-PAGES),
    view: one(query.get("view"), ["results", "map", "owners", "growth"], "results"),
    map: query.get("map") ?? "",
    by: one(query.get("by"), ["size", "count"], "size"),
    with: query.get("with") ?? "",
    below: readKey(query, "below"),
    like: readKey(query, "like"),
    open: readKey(query, "open"),
    pane: one(query.get("pane"), ["preview", "why"], "preview"),
    coverage: query.get("coverage") === "shown",
    facets: readList(query, "facets"),
    charts: readList(query, "charts"),
  };
}

/** The query of the URL, without what is as at the start. */
export function writeState(state: PageState): string {
  const query = new URLSearchParams();
  const text = (name: string, value: string, usual = ""): void => {
    if (value !== usual) query.set(name, value);
  };
  const key = (name: string, value: DocumentKey | null): void => {
    if (value === null) return;
    query.set(name, value.text);
    if (value.bytes !== null) query.set(`${name}_bytes`, value.bytes);
  };
  text("index", state.index);
  text("q", state.q);
  text("sort", state.sort);
  if (state.fields !== null) query.set("fields", state.fields.join(","));
  state.after.slice(-PAGES).forEach((token) => query.append("after", token));
  text("view", state.view, "results");
  text("map", state.map);
  text("by", state.by, "size");
  text("with", state.with);
  key("below", state.below);
  key("like", state.like);
  key("open", state.open);
  text("pane", state.pane, "preview");
  if (state.coverage) query.set("coverage", "shown");
  if (state.facets !== null) query.set("facets", state.facets.join(","));
  if (state.charts !== null) query.set("charts", state.charts.join(","));
  const written = query.toString();
  return written === "" ? "" : `?${written}`;
}

/** The state after a change; another query, order or index begins at its first page, and closes the pane. */
export function changed(state: PageState, change: Partial<PageState>): PageState {
  const next = { ...state, ...change };
  const asksElse =
    next.q !== state.q || next.sort !== state.sort || next.index !== state.index || next.like !== state.like;
  if (asksElse && change.after === undefined) next.after = [];
  if (asksElse && change.open === undefined && next.sort === state.sort) next.open = null;
  if (next.index !== state.index) {
    const { with: before = "", below = null } = change;
    const usual = { fields: null, facets: null, charts: null, sort: "", map: "", like: null };
    return { ...next, ...usual, with: before, below };
  }
  if (next.q !== state.q && change.like === undefined) next.like = null;
  return next;
}
