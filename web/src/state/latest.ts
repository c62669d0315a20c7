// Questions whose newest answer counts: an older one is cancelled, and never shown after a newer one.

import { useEffect, useState } from "preact/hooks";

import { Problem } from "../api/client";

export interface Latest<T> {
  /** The newest answer; while the next one is awaited, still the one before. */
  value: T | null;
  problem: Problem | null;
  loading: boolean;
  /** The question that `value` or `problem` answers. */
  of: string | null;
}

const NOTHING = { value: null, problem: null, loading: false, of: null };

/** Asks again whenever `question` changes; null asks nothing. With `keep`, the answer survives a problem. */
export function useLatest<T>(
  question: string | null,
  ask: (signal: AbortSignal) => Promise<T>,
  keep = false,
): Latest<T> {
  const [latest, setLatest] = useState<Latest<T>>(NOTHING);
  useEffect(() => {
    if (question === null) {
      setLatest(NOTHING);
      return undefined;
    }
    const stop = new AbortController();
    const settle = (value: T | null, problem: Problem | null): void => {
      if (stop.signal.aborted) return;
      const kept = (before: Latest<T>): T | null => (keep && value === null ? before.value : value);
      setLatest((before) => ({ value: kept(before), problem, loading: false, of: question }));
    };
    setLatest((before) => ({ ...before, loading: true }));
    ask(stop.signal).then(
      (value) => settle(value, null),
      (error: unknown) => settle(null, asProblem(error)),
    );
    return () => stop.abort();
  }, [question]);
  return latest;
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ title: "The answer cannot be read", status: 0, detail }, null);
}
