// Why a document was found: how its score came about, part by part.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import * as api from "../api/client";
import type { Explanation } from "../api/types";
import { useLatest } from "../state/latest";
import { usePage } from "../state/page";
import { hitParameters } from "../state/results";
import type { DocumentKey } from "../text/keys";
import { keyOf, sameKey } from "../text/keys";
import { Notice } from "./notice";
import { Shown } from "./shown";

export function Why({ of }: { of: DocumentKey }): JSX.Element {
  const { state, info } = usePage();
  const [again, setAgain] = useState(0);
  const parameters = {
    ...hitParameters(info, state),
    snippets: undefined,
    fields: undefined,
    explain: true,
    count: false,
  };
  const question = JSON.stringify([state.index, info.generation, parameters, of, again]);
  const { value, problem } = useLatest(question, (signal) => api.search(state.index, parameters, signal));
  if (problem !== null) return <Notice problem={problem} retry={() => setAgain(again + 1)} />;
  if (value === null) return <p class="fine empty">…</p>;
  const hit = value.hits.find((each) => sameKey(keyOf(each), of));
  if (hit?.explanation == null)
    return <p class="fine">This document is not on the page of results any more.</p>;
  return (
    <>
      <p class="fine">
        Number {hit.rank} of the results{state.sort === "" ? ", by its score" : `, sorted by ${state.sort}`}.
        The parts of the score:
      </p>
      <ul class="why">
        <Part part={hit.explanation} whole={Math.abs(hit.explanation.value)} depth={0} />
      </ul>
    </>
  );
}

/** Figures with the digits that matter. */
function figure(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : String(Number(value.toPrecision(4)));
}

interface PartProperties {
  part: Explanation;
  whole: number;
  depth: number;
}

/** A part of the score; a bar shows its share where it adds to the whole. */
function Part({ part, whole, depth }: PartProperties): JSX.Element {
  const details = part.details ?? [];
  const sums = /(sum of|best of)( |$)/.test(part.description);
  const share = whole === 0 ? 0 : Math.min(1, Math.abs(part.value) / whole);
  return (
    <li>
      <span class="part">
        <span class="amount">{figure(part.value)}</span>
        <span class="words">
          <Shown text={part.description} />
        </span>
        {whole > 0 && <span class="share" style={{ width: `${100 * share}%` }} />}
      </span>
      {details.length > 0 && depth < 60 && (
        <ul>
          {details.map((detail, at) => (
            <Part key={at} part={detail} whole={sums ? whole : 0} depth={depth + 1} />
          ))}
        </ul>
      )}
    </li>
  );
}
