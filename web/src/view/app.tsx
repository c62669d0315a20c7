// The page: what it knows, and where its parts are. The state is that of the URL.

import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import * as api from "../api/client";
import type { IndexEntry, IndexInfo, Indexes } from "../api/types";
import { useAggregates } from "../state/aggregates";
import { useLatest } from "../state/latest";
import type { Page } from "../state/page";
import { PageContext } from "../state/page";
import { useResults } from "../state/results";
import { readSettings, writeSettings } from "../state/stored";
import type { PageState } from "../state/url";
import { changed, readState, writeState } from "../state/url";
import { visible } from "../text/show";
import { Conditions, DidYouMean } from "./conditions";
import { Facets } from "./facets";
import { Help } from "./help";
import { Histograms } from "./histogram";
import { useKeys } from "./keyboard";
import { DirectoryMap } from "./map";
import { Notice } from "./notice";
import { Owners } from "./owners";
import { Pane } from "./pane";
import { Caveats, CountLine, Results } from "./results";
import { Saved } from "./saved";
import { SearchBox } from "./search-box";
import { Status } from "./status";
import { Toolbar, Views } from "./toolbar";

/** The state of the URL, and how to change it. */
function useUrl(): [PageState, Page["go"]] {
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

/** A short message that goes away by itself. */
function useToast(): [string, (text: string) => void] {
  const [toast, setToast] = useState("");
  useEffect(() => {
    if (toast === "") return undefined;
    const timer = setTimeout(() => setToast(""), 2500);
    return () => clearTimeout(timer);
  }, [toast]);
  return [toast, setToast];
}

/** How often the page looks for a new commit, in milliseconds. */
const LOOK_AGAIN = 30_000;

export function App({ ready }: { ready: () => void }): JSX.Element {
  const [state, go] = useUrl();
  const [turn, setTurn] = useState(0);
  const all = useLatest(`indexes ${turn}`, api.indexes);
  const entry = all.value?.indexes.find((index) => index.name === state.index) ?? (state.index === "" ? all.value?.indexes[0] : undefined);
  const name = entry?.name;
  const info = useLatest(name === undefined ? null : `${name} ${entry?.generation} ${turn}`, (signal) => api.info(name ?? "", signal));
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && setTurn((now) => now + 1), LOOK_AGAIN);
    return () => clearInterval(timer);
  }, []);
  const problem = all.problem ?? info.problem;
  const lost = all.value !== null && entry === undefined;
  useEffect(() => {
    if (problem !== null || lost) ready();
  }, [problem, lost]);
  if (lost) return <Lost name={state.index} all={all.value?.indexes ?? []} go={go} />;
  if (all.value !== null && entry !== undefined && info.value?.name === name && info.value !== null) {
    return <Loaded all={all.value} entry={entry} info={info.value} state={{ ...state, index: entry.name }} go={go} ready={ready} />;
  }
  if (problem !== null) return <Shell><Notice problem={problem} retry={() => setTurn(turn + 1)} /></Shell>;
  return <Shell><p class="fine empty">…</p></Shell>;
}

function Shell({ children }: { children: JSX.Element }): JSX.Element {
  return (
    <main class="shell">
      <h1 class="brand">scanns</h1>
      {children}
    </main>
  );
}

function Lost({ name, all, go }: { name: string; all: IndexEntry[]; go: Page["go"] }): JSX.Element {
  return (
    <Shell>
      <div class="notice error" role="alert">
        <div>
          <strong>{name === "" ? "There is no index that you may search." : `There is no index ${visible(name)}.`}</strong>
          <ul>
            {all.map((index) => (
              <li key={index.name}>
                <button type="button" class="link" onClick={() => go({ index: index.name })}>
                  {visible(index.name)}
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </Shell>
  );
}

interface LoadedProperties {
  all: Indexes;
  entry: IndexEntry;
  info: IndexInfo;
  state: PageState;
  go: Page["go"];
  ready: () => void;
}

function Loaded({ all, entry, info, state, go, ready }: LoadedProperties): JSX.Element {
  const [settings, setSettings] = useState(readSettings);
  const [toast, say] = useToast();
  const [help, setHelp] = useState(false);
  const [again, setAgain] = useState(0);
  const [unfolded, setUnfolded] = useState(false);
  const results = useResults(info, state, again);
  const aggregates = useAggregates(info, state, again);
  const answered = results.value !== null || results.problem !== null;
  useEffect(() => {
    if (answered) ready();
  }, [answered]);
  useEffect(() => {
    document.documentElement.dataset["theme"] = settings.theme;
  }, [settings.theme]);
  useEffect(() => {
    document.title = state.q === "" ? `${visible(entry.name)} – scanns` : `${visible(state.q).slice(0, 80)} – scanns`;
  }, [state.q, entry.name]);
  const escape = useCallback(() => {
    const opened = document.querySelector<HTMLElement>("[data-hit][aria-expanded=true]");
    go({ open: null });
    opened?.focus();
  }, []);
  const openHelp = useCallback(() => setHelp(true), []);
  useKeys(settings.keys, { help: openHelp, escape });
  const change = (next: Page["settings"]): void => {
    setSettings(next);
    if (!writeSettings(next)) say("this browser stores nothing: the setting is lost with the page");
  };
  const page = useMemo<Page>(() => ({ state, go, index: entry, info, settings, change, say }), [state, entry, info, settings]);
  const queryProblem = results.problem?.body.status === 400 ? results.problem : null;
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#results">
        Skip to the results
      </a>
      <header class="top">
        <h1 class="brand">scanns</h1>
        <IndexChoice all={all} />
        <SearchBox problem={queryProblem} />
        <div class="top-tools">
          <Saved />
          <button type="button" class="quiet" onClick={openHelp}>
            Help
          </button>
        </div>
        <Status all={all} />
      </header>
      <div class={state.open === null ? "body" : "body with-pane"}>
        <Facets aggregates={aggregates} broken={queryProblem !== null} unfolded={unfolded} />
        <main id="results" tabIndex={-1}>
          <Conditions />
          <div class="bar-line">
            <CountLine results={results} />
            <Toolbar unfolded={unfolded} unfold={() => setUnfolded(!unfolded)} />
          </div>
          <DidYouMean answer={results.value} />
          <Caveats answer={results.value} />
          <Views />
          {state.view === "map" && <DirectoryMap />}
          {state.view === "owners" && <Owners />}
          {state.view === "results" && results.problem === null && <Histograms aggregates={aggregates} />}
          {state.view === "results" && <Results results={results} retry={() => setAgain(again + 1)} />}
        </main>
        {state.open !== null && <Pane of={state.open} />}
      </div>
      <p class={toast === "" ? "toast" : "toast shown"} role="status">
        {toast}
      </p>
      {help && <Help close={() => setHelp(false)} />}
    </PageContext.Provider>
  );
}

function IndexChoice({ all }: { all: Indexes }): JSX.Element {
  return (
    <PageContext.Consumer>
      {(page) =>
        all.indexes.length > 1 ? (
          <select class="index" aria-label="Index" value={page?.index.name} onChange={(event) => page?.go({ index: event.currentTarget.value, q: "" })}>
            {all.indexes.map((index) => (
              <option key={index.name} value={index.name}>
                {visible(index.name)}
              </option>
            ))}
          </select>
        ) : (
          <span class="index">{visible(page?.index.name ?? "")}</span>
        )
      }
    </PageContext.Consumer>
  );
}
