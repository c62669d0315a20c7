// What went wrong, in words, with the place in the query and what to do next.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { Problem } from "../api/client";
import { utf16Offset } from "../text/bytes";
import { pieces } from "../text/show";
import { Icon } from "./icon";

/** The part of a long query around its error. */
const AROUND = 60;

interface Place {
  before: string;
  wrong: string;
  after: string;
}

/** Cuts a query at the error; offsets are bytes. */
export function placeOf(q: string, position: { offset: number; length?: number }): Place {
  const start = utf16Offset(q, position.offset);
  const end = Math.max(utf16Offset(q, position.offset + Math.max(1, position.length ?? 1)), start);
  const before = q.slice(0, start);
  const after = q.slice(end, end + AROUND);
  return {
    before: before.length > AROUND ? `…${before.slice(-AROUND)}` : before,
    wrong: q.slice(start, end),
    after,
  };
}

const plain = (text: string): string =>
  pieces(text)
    .map((piece) => piece.text)
    .join("");

/** An error of the query: its text, and a mark under the character. */
export function QueryError({ q, problem, id }: { q: string; problem: Problem; id: string }): JSX.Element {
  const { position, detail, title } = problem.body;
  const place = position === undefined ? null : placeOf(q, position);
  const wrong = place === null ? "" : plain(place.wrong);
  return (
    <div class="query-error" id={id} role="alert">
      {place !== null && (
        <pre aria-hidden="true" class="place">
          <span class="around">{plain(place.before)}</span>
          <span class="wrong">{wrong === "" ? " " : wrong}</span>
          <span class="around">{plain(place.after)}</span>
        </pre>
      )}
      <p>
        <Icon name="warning" /> {detail ?? title}
        {place !== null && wrong !== "" && <span class="offscreen"> The error is at “{wrong}”.</span>}
      </p>
    </div>
  );
}

/** Words for problems that every user may meet. */
function advice(problem: Problem): string {
  const { status, detail } = problem.body;
  if (status === 401) return "Open the link that scanns serve printed; it lets this browser in.";
  if (status === 503 || status === 429) return detail ?? "Too many searches run at the moment.";
  return detail ?? "";
}

/** A problem instead of an answer, with a button to ask again. */
export function Notice({ problem, retry }: { problem: Problem; retry: () => void }): JSX.Element {
  const { title, request_id: request } = problem.body;
  return (
    <div class="notice error" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{title}</strong>
        <p>{advice(problem)}</p>
        {request !== undefined && <p class="fine">Request {request}</p>}
        <Retry seconds={problem.retryAfter} retry={retry} />
      </div>
    </div>
  );
}

/** Asks again by itself once the server's time is up, or at a click. */
function Retry({ seconds, retry }: { seconds: number | null; retry: () => void }): JSX.Element {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    if (left === null) return undefined;
    if (left <= 0) {
      retry();
      return undefined;
    }
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return (
    <button type="button" onClick={retry}>
      {left === null ? "Try again" : `Try again now, or in ${Math.max(1, left)} s by itself`}
    </button>
  );
}
