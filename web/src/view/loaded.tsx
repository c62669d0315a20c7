// The page with an index: its parts, and what they share.

import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";

import type { IndexEntry, IndexInfo, Indexes } from "../api/types";
import { useAggregates } from "../state/aggregates";
import type { Page } from "../state/page";
import { PageContext, SaidContext } from "../state/page";
import { useMeant, useResults } from "../state/results";
import type { Settings } from "../state/stored";
import { readSettings, writeSettings } from "../state/stored";
import type { PageState } from "../state/url";
import { visible } from "../text/show";
import { Conditions, DidYouMean } from "./conditions";
import { Coverage } from "./coverage";
import { Facets } from "./facets";
import { Growth } from "./growth";
import { Help } from "./help";
import { Histograms } from "./histogram";
import { useKeys } from "./keyboard";
import { DirectoryMap } from "./map";
import { Owners } from "./owners";
import { Pane } from "./pane";
import { Caveats, CountLine, Results } from "./results";
import { Saved } from "./saved";
import { SearchBox } from "./search-box";
import { Status } from "./status";
import { Toast } from "./toast";
import { Toolbar, Views } from "./toolbar";

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

/** The settings, as stored in the browser. */
function useSettings(say: (text: string) => void): [Settings, (settings: Settings) => void] {
  const [settings, setSettings] = useState(readSettings);
  useEffect(() => {
    document.documentElement.dataset["theme"] = settings.theme;
  }, [settings.theme]);
  const change = (next: Settings): void => {
    setSettings(next);
    if (!writeSettings(next)) say("this browser stores nothing: the setting is lost with the page");
  };
  return [settings, change];
}

interface LoadedProperties {
  all: Indexes;
  entry: IndexEntry;
  info: IndexInfo;
  state: PageState;
  go: Page["go"];
  ready: () => void;
}

export function Loaded({ all, entry, info, state, go, ready }: LoadedProperties): JSX.Element {
  const [toast, say] = useToast();
  const [settings, change] = useSettings(say);
  const [help, setHelp] = useState(false);
  const page = useMemo<Page>(
    () => ({
      state,
      go,
      all,
      index: entry,
      others: all.indexes.filter((one) => one !== entry),
      info,
      settings,
      change,
      say,
    }),
    [all, state, entry, info, settings],
  );
  useEffect(() => {
    const what = state.q === "" ? entry.name : state.q.slice(0, 80);
    document.title = `${visible(what)} – scanns`;
  }, [state.q, entry.name]);
  const escape = useCallback(() => {
    const opened = document.querySelector<HTMLElement>("[data-hit][aria-expanded=true]");
    go({ open: null });
    opened?.focus();
  }, []);
  const openHelp = useCallback(() => setHelp(true), []);
  useKeys(settings.keys, { help: openHelp, escape });
  return (
    <PageContext.Provider value={page}>
      <SaidContext.Provider value={toast}>
        <Parts all={all} page={page} openHelp={openHelp} ready={ready} />
        <Toast />
        {help && <Help close={() => setHelp(false)} />}
      </SaidContext.Provider>
    </PageContext.Provider>
  );
}

interface PartsProperties {
  all: Indexes;
  page: Page;
  openHelp: () => void;
  ready: () => void;
}

function Parts({ all, page: { state, info, go }, openHelp, ready }: PartsProperties): JSX.Element {
  const [again, setAgain] = useState(0);
  const [unfolded, setUnfolded] = useState(false);
  const results = useResults(info, state, again);
  const meant = useMeant(info, state, results);
  const aggregates = useAggregates(info, state, again);
  const [shown, setShown] = useState(false);
  const answered = results.value !== null || results.problem !== null;
  useEffect(() => {
    if (!answered) return;
    ready();
    setShown(true);
  }, [answered]);
  const queryProblem = results.problem?.ofQuery === true ? results.problem : null;
  return (
    <>
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
        <Facets aggregates={aggregates} broken={results.problem !== null} unfolded={unfolded} />
        <main id="results" tabIndex={-1}>
          <Conditions />
          <div class="bar-line">
            <CountLine results={results} />
            <Toolbar
              broken={results.problem !== null}
              unfolded={unfolded}
              unfold={() => setUnfolded(!unfolded)}
            />
          </div>
          <DidYouMean meant={meant} />
          <Caveats answer={results.value} />
          <Views />
          {state.view === "map" && <DirectoryMap />}
          {state.view === "owners" && <Owners />}
          {state.view === "growth" && <Growth />}
          {state.view === "results" && results.problem === null && <Histograms aggregates={aggregates} />}
          {state.view === "results" && <Results results={results} retry={() => setAgain(again + 1)} />}
        </main>
        {state.open !== null && <Pane of={state.open} />}
      </div>
      {shown && state.coverage && <Coverage close={() => go({ coverage: false })} />}
    </>
  );
}

function IndexChoice({ all }: { all: Indexes }): JSX.Element {
  return (
    <PageContext.Consumer>
      {(page) =>
        all.indexes.length > 1 ? (
          <select
            class="index"
            aria-label="Index"
            value={page?.index.name}
            onChange={(event) => page?.go({ index: event.currentTarget.value, q: "" })}
          >
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
