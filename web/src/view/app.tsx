// The page before anything is known: asks which indexes there are, and shows the chosen one.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import * as api from "../api/client";
import type { IndexEntry } from "../api/types";
import { useLatest } from "../state/latest";
import { useUrl } from "../state/navigation";
import type { Page } from "../state/page";
import { visible } from "../text/show";
import { Loaded } from "./loaded";
import { Notice } from "./notice";

/** How often the page looks for a new commit, in milliseconds. */
const LOOK_AGAIN = 60_000;

export function App({ ready }: { ready: () => void }): JSX.Element {
  const [state, go] = useUrl();
  const [turn, setTurn] = useState(0);
  const all = useLatest(`indexes ${turn}`, api.indexes, true);
  const entry =
    all.value?.indexes.find((index) => index.name === state.index) ??
    (state.index === "" ? all.value?.indexes[0] : undefined);
  const name = entry?.name;
  const question = name === undefined ? null : `${name} ${entry?.generation} ${turn}`;
  const info = useLatest(question, (signal) => api.info(name ?? "", signal), true);
  useEffect(() => {
    const timer = setInterval(
      () => document.visibilityState === "visible" && setTurn((now) => now + 1),
      LOOK_AGAIN,
    );
    return () => clearInterval(timer);
  }, []);
  const problem = all.problem ?? info.problem;
  const lost = all.value !== null && entry === undefined;
  useEffect(() => {
    if (problem !== null || lost) ready();
  }, [problem, lost]);
  if (lost) return <Lost name={state.index} all={all.value?.indexes ?? []} go={go} />;
  if (all.value !== null && entry !== undefined && info.value?.name === name && info.value !== null) {
    return (
      <Loaded
        all={all.value}
        entry={entry}
        info={info.value}
        state={{ ...state, index: entry.name }}
        go={go}
        ready={ready}
      />
    );
  }
  if (problem !== null)
    return (
      <Shell>
        <Notice problem={problem} retry={() => setTurn(turn + 1)} />
      </Shell>
    );
  return (
    <Shell>
      <p class="fine empty">…</p>
    </Shell>
  );
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
          <strong>
            {name === "" ? "There is no index that you may search." : `There is no index ${visible(name)}.`}
          </strong>
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
