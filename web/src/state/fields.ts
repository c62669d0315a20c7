// Which fields the page shows, counts and sorts by, if the user did not choose.

import type { FieldInfo, IndexInfo } from "../api/types";
import type { PageState } from "./url";

const FACETS = [
  "type",
  "ext",
  "owner",
  "group",
  "format",
  "language",
  "venue",
  "author",
  "authors",
  "keywords",
  "status",
  "mime",
  "host",
];
const MOST_FACETS = 5;
const COLUMNS = ["size", "mtime", "owner"];

/** True if the documents are entries of a file system. */
export function isFiles(info: IndexInfo): boolean {
  return info.fields.some((field) => field.kind === "path");
}

/** Fields that a facet can count by their values. */
export function countable(info: IndexInfo): string[] {
  const plain = (field: FieldInfo): boolean => field.column && ["keyword", "boolean"].includes(field.kind);
  return info.fields.filter(plain).map((field) => field.name);
}

export function facetFields(info: IndexInfo, state: PageState): string[] {
  const all = countable(info);
  if (state.facets !== null) return state.facets.filter((name) => all.includes(name));
  const known = FACETS.filter((name) => all.includes(name));
  const usual =
    known.length > 0 || isFiles(info) ? known : all.filter((name) => name !== "title" && name !== "name");
  return usual.slice(0, isFiles(info) ? 4 : MOST_FACETS);
}

/** Fields whose values can be shown. */
export function showable(info: IndexInfo): string[] {
  return info.fields.filter((field) => field.column || field.stored).map((field) => field.name);
}

export function shownFields(info: IndexInfo, state: PageState): string[] {
  const all = showable(info);
  if (state.fields !== null) return state.fields.filter((name) => all.includes(name));
  if (isFiles(info)) return COLUMNS.filter((name) => all.includes(name));
  const texts = info.fields.filter((field) => field.kind === "text").map((field) => field.name);
  return all.filter((name) => !texts.includes(name) && name !== "title" && name !== "path").slice(0, 4);
}

/** The field whose value names a document for people, if there is one. */
export function titleField(info: IndexInfo): string | null {
  return !isFiles(info) && showable(info).includes("title") ? "title" : null;
}

/** True if the values of a field read better with the largest or the newest first. */
export function descends(info: IndexInfo, name: string): boolean {
  const kind = info.fields.find((field) => field.name === name)?.kind ?? "";
  return ["date", "unsigned", "signed", "float"].includes(kind);
}

/** Fields that documents can be sorted by. */
export function sortable(info: IndexInfo): string[] {
  const kinds = ["date", "unsigned", "signed", "float", "keyword"];
  return info.fields.filter((field) => field.column && kinds.includes(field.kind)).map((field) => field.name);
}
