// What the search box offers: completions of the server, and earlier queries.

import { useEffect, useState } from "preact/hooks";

import { suggest } from "../api/client";
import { useLatest } from "../state/latest";
import { readHistory } from "../state/stored";
import { byteOffset, utf16Offset } from "../text/bytes";
import { count } from "../text/format";

/** A line of the list below the box. */
export interface Offer {
  /** What is shown. */
  text: string;
  /** Field, value, word, or earlier query; and how often it occurs. */
  note: string;
  /** The whole query after taking it. */
  query: string;
  /** Where the caret goes. */
  caret: number;
}

/** Milliseconds without a key before the server is asked. */
const PAUSE = 120;
const MOST_EARLIER = 8;

/** The note of an earlier query. */
export const EARLIER = "earlier query";

/** A value that follows at once whatever it is given, but only after a pause. */
export function usePaused<T>(value: T, milliseconds: number): T {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return paused;
}

/** Earlier queries that begin as this one does. */
function earlier(q: string, most: number): Offer[] {
  const fitting = readHistory().filter(
    (each) => each !== q && each.toLowerCase().startsWith(q.toLowerCase()),
  );
  return fitting.slice(0, most).map((text) => ({ text, note: EARLIER, query: text, caret: text.length }));
}

/** The offers for a query with the caret at `caret`; none while the list is closed. */
export function useOffers(index: string, q: string, caret: number, open: boolean): Offer[] {
  const asked = usePaused(open && q.trim() !== "" ? `${caret}:${q}` : null, PAUSE);
  const { value } = useLatest(asked, async (signal) => ({
    of: asked,
    answer: await suggest(index, q, byteOffset(q, caret), signal),
  }));
  if (!open) return [];
  if (q.trim() === "") return earlier("", MOST_EARLIER);
  if (value === null || value.of !== `${caret}:${q}`) return earlier(q, 2);
  const { from, to, suggestions } = value.answer;
  const before = q.slice(0, utf16Offset(q, from));
  const after = q.slice(utf16Offset(q, to));
  const offers = suggestions.map(({ text, kind, count: documents }): Offer => {
    const space = kind === "field" || after.startsWith(" ") ? "" : " ";
    const note = documents === undefined ? kind : `${kind} · ${count(documents)}`;
    return {
      text,
      note,
      query: `${before}${text}${space}${after}`,
      caret: before.length + text.length + space.length,
    };
  });
  return [...offers, ...earlier(q, 2)];
}
