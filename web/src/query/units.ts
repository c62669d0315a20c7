// Sizes and dates as queries write them.

const UNITS = ["", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** A size in the largest unit that keeps it exact. */
export function sizeText(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && value % 1024 === 0 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value}${UNITS[unit] ?? ""}`;
}

/** The bytes of a size such as 64KiB, 1.5G or 10kB; null if it is none. */
export function parseSize(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(?:([kmgtpe])(i?b)?|b)?$/i.exec(text);
  if (match === null) return null;
  const power = "kmgtpe".indexOf((match[2] ?? "").toLowerCase()) + 1;
  const base = (match[3] ?? "").toLowerCase() === "b" ? 1000 : 1024;
  return Math.round(Number(match[1]) * (match[2] === undefined ? 1 : base ** power));
}

/** The beginning of a moment of a query, in milliseconds since 1970; null if the text is no date. */
export function parseDate(text: string): number | null {
  const match = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.\d+)?)?)?Z?)?)?)?$/.exec(
    text,
  );
  if (match === null) return null;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match.slice(1).map(numberOf);
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second);
  return at.getTime();
}

const numberOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

/** A day for a query. */
export function dateText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
