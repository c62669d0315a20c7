// What could not be read when an index was built: summed up over all scans and dumps.

import type { CoveredPlace, FailedInput } from "../api/types";

/** Inputs that could not be read, for the same reason. */
export interface Reason {
  text: string;
  count: number;
}

export interface Failures {
  /** The inputs that are named. */
  named: FailedInput[];
  /** The number of all of them, which may be greater. */
  count: number;
  /** The most frequent reasons first. */
  reasons: Reason[];
  /** The number of named inputs with other reasons. */
  other: number;
}

/** Sums up the failures of all places, with at most `most` reasons. */
export function failuresOf(covered: CoveredPlace[], most: number): Failures {
  const named = covered.flatMap((place) => place.failures);
  const counts = new Map<string, number>();
  for (const { reason } of named) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts]
    .map(([text, count]) => ({ text, count }))
    .sort((one, other) => other.count - one.count || (one.text < other.text ? -1 : 1));
  const other = sorted.slice(most).reduce((sum, reason) => sum + reason.count, 0);
  const count = covered.reduce((sum, place) => sum + place.unread, 0);
  return { named, count: Math.max(count, named.length), reasons: sorted.slice(0, most), other };
}
