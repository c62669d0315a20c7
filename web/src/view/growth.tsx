// Growth: what is in each directory in an earlier index and in this one. The table is the chart.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import * as api from "../api/client";
import type { GrowthAnswer, IndexEntry, IndexInfo } from "../api/types";
import { only } from "../query/edit";
import type { Latest } from "../state/latest";
import { useLatest } from "../state/latest";
import { usePage } from "../state/page";
import * as format from "../text/format";
import type { DocumentKey } from "../text/keys";
import { parentOf } from "../text/keys";
import { visible } from "../text/show";
import { GrowthTable } from "./growth-table";
import { Icon } from "./icon";
import { Measures, NoSizes } from "./map";
import { Notice } from "./notice";
import { Shown } from "./shown";

/** Directories that are shown at first, and at most. */
const FEW = 100;
const MOST = 10_000;

/** The index to compare with: the chosen one, or the only other one. */
function beforeOf(chosen: string, others: IndexEntry[]): string {
  return chosen !== "" ? chosen : others.length === 1 ? (others[0]?.name ?? "") : "";
}

export function Growth(): JSX.Element {
  const { state, info, others } = usePage();
  const [again, setAgain] = useState(0);
  const [limit, setLimit] = useState(FEW);
  const before = beforeOf(state.with, others);
  const { below, by, index } = state;
  const question = JSON.stringify([index, info.generation, before, below, by, limit, again]);
  const growth = useLatest(before === "" || !info.sizes ? null : question, (signal) =>
    api.growth(index, before, below, { by, limit }, signal),
  );
  const other = useLatest(before === "" ? null : `${before} ${again}`, (signal) => api.info(before, signal));
  if (!info.sizes) return <NoSizes />;
  if (others.length === 0 && before === "")
    return (
      <p class="fine empty">
        There is no other index to compare with. Serve an earlier one beside this one: scanns serve A B.
      </p>
    );
  return (
    <section class="growth" aria-busy={growth.loading} aria-label="Growth">
      <Sides before={before} />
      <Caveat other={other.value} />
      {before === "" && <p class="fine empty">Choose the index of the state before.</p>}
      {before !== "" && <Place growth={growth} />}
      {growth.problem !== null && <Notice problem={growth.problem} retry={() => setAgain(again + 1)} />}
      {growth.problem === null && growth.value === null && before !== "" && <p class="fine empty">…</p>}
      {growth.problem === null && growth.value !== null && before !== "" && (
        <Answer answer={growth.value} all={limit === MOST ? null : () => setLimit(MOST)} />
      )}
    </section>
  );
}

const dateOf = (entry: IndexEntry | undefined): string =>
  typeof entry?.committed === "string" ? `, ${format.date(entry.committed)}` : "";

/** The two indexes: the one before is chosen. */
function Sides({ before }: { before: string }): JSX.Element {
  const { state, go, index, others } = usePage();
  const known = before === "" || others.some((other) => other.name === before);
  const swap = (): void => go({ index: before, with: index.name, below: state.below });
  return (
    <div class="sides">
      <label>
        before{" "}
        <select
          aria-label="The index of the state before"
          value={before}
          onChange={(event) => go({ with: event.currentTarget.value })}
        >
          {before === "" && <option value="">choose an index</option>}
          {!known && <option value={before}>{visible(before)}</option>}
          {others.map((other) => (
            <option key={other.name} value={other.name}>
              {visible(other.name)}
              {dateOf(other)}
            </option>
          ))}
        </select>
      </label>
      <span>
        after{" "}
        <strong>
          {visible(index.name)}
          {dateOf(index)}
        </strong>
      </span>
      {before !== "" && known && (
        <button type="button" onClick={swap}>
          Swap
        </button>
      )}
      <Measures by={state.by} choose={(by) => go({ by })} />
    </div>
  );
}

/** What makes the comparison wrong: inputs that could not be read, or the wrong order. */
function Caveat({ other }: { other: IndexInfo | null }): JSX.Element | null {
  const { info } = usePage();
  const lacking = [other, info].filter((one) => one !== null && one.completeness !== null);
  const names = lacking.map((one) => visible(one?.name ?? "")).join(" and ");
  const committed = [other?.committed, info.committed].map((text) => Date.parse(text ?? ""));
  const [before = Number.NaN, after = Number.NaN] = committed;
  return (
    <>
      {before > after && (
        <p class="fine warned">
          <Icon name="warning" /> The index of the state before is the newer one. Swap them to see what grew
          since.
        </p>
      )}
      {lacking.length > 0 && (
        <p class="fine warned">
          <Icon name="warning" /> {names} {lacking.length === 1 ? "is" : "are"} incomplete: what could not be
          read seems to be new or gone.
        </p>
      )}
    </>
  );
}

/** The directory, and the way up. Its name gets the focus when the reader goes to another one. */
function Place({ growth: { value, problem } }: { growth: Latest<GrowthAnswer> }): JSX.Element {
  const { state, go } = usePage();
  const name = useRef<HTMLHeadingElement>(null);
  const answered = problem === null ? value : null;
  const shown: DocumentKey | null =
    answered === null ? state.below : { text: answered.path, bytes: answered.path_bytes ?? null };
  const was = useRef(shown);
  useEffect(() => {
    const moved = was.current !== null && shown !== null && was.current.text !== shown.text;
    if (shown !== null) was.current = shown;
    if (moved && document.activeElement === document.body) name.current?.focus();
  }, [shown?.text, shown?.bytes]);
  return (
    <div class="place">
      {state.below !== null && (
        <button
          type="button"
          class="plain"
          aria-label="Up to the directory above"
          title="Up"
          onClick={() => go({ below: parentOf(state.below ?? { text: "", bytes: null }) })}
        >
          <Icon name="up" />
        </button>
      )}
      <h2 ref={name} tabIndex={-1}>
        <Shown text={shown === null || shown.text === "" ? "/" : shown.text} />
      </h2>
    </div>
  );
}

function Answer({ answer, all }: { answer: GrowthAnswer; all: (() => void) | null }): JSX.Element {
  const { state, go } = usePage();
  const open = (path: DocumentKey, kind: string): void =>
    go(
      kind === "directory"
        ? { below: path }
        : { q: only("", "path", path.text), view: "results", below: null },
    );
  return (
    <>
      {answer.partial && (
        <p class="fine warned">Time was up: these sums are too low, and the changes may be wrong.</p>
      )}
      <GrowthTable answer={answer} by={state.by} open={open} />
      {answer.more > 0 && (
        <p class="fine">
          {format.count(answer.more)} more with smaller changes{" "}
          {all !== null && (
            <button type="button" class="link" onClick={all}>
              show them
            </button>
          )}
        </p>
      )}
      <p class="fine">
        All that is below this directory, whatever the query is. The greatest changes of {state.by} come
        first.
      </p>
    </>
  );
}
