// What every part of the page knows: the state, how to change it, and the index.

import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { IndexEntry, IndexInfo, Indexes } from "../api/types";
import type { Settings } from "./stored";
import type { PageState } from "./url";

export interface Page {
  state: PageState;
  /** Changes the state: as a new step of the browser's history, or in place of the current one. */
  go: (change: Partial<PageState>, replace?: boolean) => void;
  /** The indexes, who asks, and how the server knows. */
  all: Indexes;
  index: IndexEntry;
  /** The other indexes of the server. */
  others: IndexEntry[];
  info: IndexInfo;
  settings: Settings;
  change: (settings: Settings) => void;
  /** Says something in a few words, on the screen and to screen readers. */
  say: (text: string) => void;
}

export const PageContext = createContext<Page | null>(null);

/** The short message that is shown at the moment; empty for none. */
export const SaidContext = createContext("");

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error("a part of the page is outside of it");
  return page;
}
