// Numbers, sizes, dates and ages as people read them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A size with three digits or so: 1.5 MiB. */
export function size(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 || Number.isInteger(value) ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ""}`;
}

/** A difference with its sign, written by `text`: +1.5 MiB, \u22122. */
export function change(difference: number, text: (value: number) => string): string {
  if (difference === 0) return "0";
  return `${difference > 0 ? "+" : "\u2212"}${text(Math.abs(difference))}`;
}

/** A date without the seconds. */
export function date(text: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? text.slice(0, 16).replace("T", " ") : text;
}

/** The time between two moments in seconds: 3 hours. */
export function duration(seconds: number): string {
  const steps: [number, string][] = [
    [365 * 86400, "year"],
    [30 * 86400, "month"],
    [86400, "day"],
    [3600, "hour"],
    [60, "minute"],
    [1, "second"],
  ];
  for (const [length, name] of steps) {
    const whole = Math.floor(seconds / length);
    if (whole >= 1) return `${count(whole)} ${name}${whole === 1 ? "" : "s"}`;
  }
  return "a moment";
}

/** The time that a search took. */
export function took(seconds: number): string {
  return seconds < 0.001
    ? `${Math.round(seconds * 1e6)} µs`
    : seconds < 1
      ? `${(seconds * 1000).toPrecision(2)} ms`
      : `${seconds.toFixed(1)} s`;
}

/** A share in percent. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "0 %";
  const share = (100 * part) / whole;
  return part === 0 ? "0 %" : share < 1 ? "< 1 %" : `${Math.round(share)} %`;
}

/** Whether a number in this field is a size in bytes. */
export function isSize(field: string): boolean {
  return field === "size" || field.endsWith("_size") || field === "bytes" || field === "length";
}

/** Whether a number in this field is a name, such as the one of an inode, and not an amount. */
export function isNumber(field: string): boolean {
  return ["inode", "device", "uid", "gid"].includes(field);
}

/** The permissions of a mode, as ls shows them. */
export function mode(value: number): string {
  const types: Record<number, string> = { 1: "p", 2: "c", 4: "d", 6: "b", 8: "-", 10: "l", 12: "s" };
  const letters = "rwxrwxrwx";
  const bits = Array.from(letters, (letter, at) => (value & (1 << (8 - at)) ? letter : "-"));
  if (value & 0o4000) bits[2] = bits[2] === "x" ? "s" : "S";
  if (value & 0o2000) bits[5] = bits[5] === "x" ? "s" : "S";
  if (value & 0o1000) bits[8] = bits[8] === "x" ? "t" : "T";
  return `${types[(value >> 12) & 15] ?? "?"}${bits.join("")}`;
}
