// The dialog about what could not be read when the index was built: by reason, and each input.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import * as api from "../api/client";
import type { CoverageAnswer, CoveredPlace, FailedInput } from "../api/types";
import type { Failures } from "../state/coverage";
import { failuresOf } from "../state/coverage";
import { useLatest } from "../state/latest";
import { usePage } from "../state/page";
import * as format from "../text/format";
import type { DocumentKey } from "../text/keys";
import { visible } from "../text/show";
import { CopyKey } from "./copy-key";
import { Dialog } from "./dialog";
import { Icon } from "./icon";
import { Notice } from "./notice";
import { Shown } from "./shown";

/** Failed inputs that an index keeps of each place. */
const MOST_KEPT = 10_000;
const MOST_REASONS = 20;
/** Inputs and places that are shown at first. */
const MOST_SHOWN = 100;

const inputs = (count: number): string => `${format.count(count)} ${count === 1 ? "input" : "inputs"}`;

function pathKey(item: { path: string; path_bytes?: string | null }): DocumentKey {
  return { text: item.path, bytes: item.path_bytes ?? null };
}

export function Coverage({ close }: { close: () => void }): JSX.Element {
  const { state, info } = usePage();
  const [again, setAgain] = useState(0);
  const question = JSON.stringify([state.index, info.generation, again]);
  const { value, problem, loading } = useLatest(question, (signal) =>
    api.coverage(state.index, MOST_KEPT, signal),
  );
  return (
    <Dialog title={`Completeness of ${visible(info.name)}`} close={close}>
      <div class="coverage" aria-busy={loading}>
        {problem?.body.status === 422 && <Refused />}
        {problem !== null && problem.body.status !== 422 && (
          <Notice problem={problem} retry={() => setAgain(again + 1)} />
        )}
        {problem === null && value === null && <p class="fine">…</p>}
        {problem === null && value !== null && <Covered answer={value} />}
      </div>
    </Dialog>
  );
}

function Refused(): JSX.Element {
  return (
    <p class="notice warning" role="alert">
      <Icon name="warning" />
      <span>
        What could not be read is told only to those who see everything in this index: its owner and root. You
        see only a part of it.
      </span>
    </p>
  );
}

function Covered({ answer: { covered } }: { answer: CoverageAnswer }): JSX.Element {
  const failures = failuresOf(covered, MOST_REASONS);
  return (
    <>
      <Summary covered={covered} />
      {failures.named.length > 0 && <Reasons failures={failures} />}
      {failures.count > 0 && <Inputs failures={failures} />}
      {covered.length > 0 && <Places covered={covered} />}
    </>
  );
}

function Summary({ covered }: { covered: CoveredPlace[] }): JSX.Element {
  const { completeness } = usePage().info;
  if (completeness !== null) {
    return (
      <p class="notice warning">
        <Icon name="warning" />
        <span>
          <strong>This index is incomplete:</strong> <Shown text={completeness.text} />
        </span>
      </p>
    );
  }
  return (
    <p>
      <Icon name="check" />{" "}
      {covered.length > 0
        ? "This index is complete: everything that was asked for was read."
        : "Nothing is known to be missing. The index has no record of a scan or of a dump."}
    </p>
  );
}

function Reasons({ failures }: { failures: Failures }): JSX.Element {
  const { named, count, reasons, other } = failures;
  return (
    <section>
      <h3>Reasons</h3>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">reason</th>
            <th scope="col" class="number">
              inputs
            </th>
          </tr>
        </thead>
        <tbody>
          {reasons.map((reason) => (
            <tr key={reason.text}>
              <td>
                <Shown text={reason.text} />
              </td>
              <td class="number">{format.count(reason.count)}</td>
            </tr>
          ))}
          {other > 0 && (
            <tr>
              <td>other reasons</td>
              <td class="number">{format.count(other)}</td>
            </tr>
          )}
          {count > named.length && (
            <tr>
              <td>reason not kept</td>
              <td class="number">{format.count(count - named.length)}</td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

function Inputs({ failures: { named, count } }: { failures: Failures }): JSX.Element {
  const [all, setAll] = useState(false);
  const shown = all ? named : named.slice(0, MOST_SHOWN);
  return (
    <section>
      <h3>Not read: {inputs(count)}</h3>
      <ul class="inputs">
        {shown.map((input, at) => (
          <FailedRow key={at} input={input} />
        ))}
      </ul>
      {shown.length < named.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {format.count(named.length)}
        </button>
      )}
      {count > named.length && (
        <p class="fine">
          The index keeps the names of {inputs(named.length)} of {format.count(count)}.
        </p>
      )}
    </section>
  );
}

function FailedRow({ input }: { input: FailedInput }): JSX.Element {
  return (
    <li>
      <span class="input">
        <Shown text={input.path} />
        <CopyKey of={pathKey(input)} label="Copy the path" />
      </span>
      <span class="fine">
        <Shown text={input.reason} />
      </span>
    </li>
  );
}

function Places({ covered }: { covered: CoveredPlace[] }): JSX.Element {
  const shown = covered.slice(0, MOST_SHOWN);
  return (
    <section>
      <h3>What was read</h3>
      <ul class="inputs">
        {shown.map((place, at) => (
          <PlaceRow key={at} place={place} />
        ))}
      </ul>
      {shown.length < covered.length && (
        <p class="fine">{format.count(covered.length - shown.length)} more directories and dumps</p>
      )}
    </section>
  );
}

function PlaceRow({ place }: { place: CoveredPlace }): JSX.Element {
  const kind = place.format === null ? "scanned" : `a dump of ${place.format}, made`;
  const cut = place.format === null ? "the scan was stopped" : "the dump is cut off, or rows are missing";
  return (
    <li>
      <span class="input">
        <Shown text={place.path} />
        <CopyKey of={pathKey(place)} label="Copy the path" />
      </span>
      <span class="fine">
        {visible(kind)} {format.date(place.began)}, {format.count(place.entries)} entries
        {place.unread > 0 && `, ${inputs(place.unread)} not read`}
      </span>
      {!place.complete && <span class="fine warned">not complete: {cut}</span>}
      {place.left_out.map((kind) => (
        <span key={kind.what} class="fine">
          left out on purpose: {format.count(kind.count)} {visible(kind.what)}
          {kind.first !== null && (
            <>
              , such as <Shown text={kind.first} />
            </>
          )}
        </span>
      ))}
    </li>
  );
}
