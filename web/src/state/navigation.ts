// Where the page is: its state follows the URL, and each change is a step of the browser's history.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { Page } from "./page";
import type { PageState } from "./url";
import { changed, readState, writeState } from "./url";

/** The state of the URL, and how to change it. */
export function useUrl(): [PageState, Page["go"]] {
  const [state, setState] = useState(() => readState(location.search));
  const newest = useRef(state);
  const apply = (next: PageState): void => {
    newest.current = next;
    setState(next);
  };
  useEffect(() => {
    const follow = (): void => apply(readState(location.search));
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  const go = useCallback((change: Partial<PageState>, replace = false): void => {
    const next = changed(newest.current, change);
    const search = writeState(next);
    if (search === writeState(newest.current)) return;
    history[replace ? "replaceState" : "pushState"](null, "", search === "" ? location.pathname : search);
    apply(next);
  }, []);
  return [state, go];
}
