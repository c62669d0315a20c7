// Classes of age, from new to old, for the map and for the table of owners.

const DAY = 86_400_000;

export interface AgeClass {
  name: string;
  /** The least and the greatest age in days; the last one is infinite. */
  from: number;
  to: number;
}

export const AGES: AgeClass[] = [
  { name: "up to 30 days", from: 0, to: 30 },
  { name: "1 to 6 months", from: 30, to: 182 },
  { name: "6 to 12 months", from: 182, to: 365 },
  { name: "1 to 2 years", from: 365, to: 730 },
  { name: "2 to 5 years", from: 730, to: 1826 },
  { name: "over 5 years", from: 1826, to: Number.POSITIVE_INFINITY },
];

/** The class of a date; null without one. A date in the future counts as new. */
export function ageClass(date: string | null, now: number): number | null {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return null;
  const days = Math.max(0, (now - at) / DAY);
  return AGES.findIndex((age) => days < age.to);
}

/** The days at which the classes begin and end, as dates of a query: from the oldest class to the newest. */
export function ageBounds(now: number): { from: string | null; to: string | null }[] {
  const day = (age: number): string => new Date(now - age * DAY).toISOString().slice(0, 10);
  return AGES.map((age) => ({
    from: age.to === Number.POSITIVE_INFINITY ? null : day(age.to),
    to: age.from === 0 ? null : day(age.from),
  }));
}

/** The facet that counts the classes of a date, the newest first. */
export function ageFacet(field: string, now: number): string {
  const ranges = ageBounds(now).map(({ from, to }) => `${from ?? ""}..${to ?? ""}`);
  return `${field}:ranges:${ranges.join(",")}`;
}
