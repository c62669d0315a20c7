// What the browser remembers: searches that were saved, the latest queries, and how the page looks.

export interface SavedSearch {
  name: string;
  /** The query of the page's URL. */
  search: string;
}

export interface Settings {
  theme: "auto" | "light" | "dark";
  /** Search while typing. */
  live: boolean;
  /** Single keys such as / and j. */
  keys: boolean;
}

const PREFIX = "scanns.";
const MOST_QUERIES = 50;

/** Reads a value, or returns null where there is none or where the browser stores nothing. */
function read(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
  } catch {
    return null;
  }
}

/** Stores a value; false if the browser refuses it. */
function write(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function readSettings(): Settings {
  const found = (read("settings") ?? {}) as Partial<Settings>;
  const theme = found.theme === "light" || found.theme === "dark" ? found.theme : "auto";
  return { theme, live: found.live === true, keys: found.keys !== false };
}

export function writeSettings(settings: Settings): boolean {
  return write("settings", settings);
}

/** The saved searches of any value, without what is none. */
export function checkSaved(value: unknown): SavedSearch[] {
  if (!Array.isArray(value)) return [];
  const is = (each: unknown): each is SavedSearch => {
    const item = (each ?? {}) as Partial<SavedSearch>;
    return typeof item.name === "string" && typeof item.search === "string" && item.search.startsWith("?");
  };
  return value.filter(is).map(({ name, search }) => ({ name, search }));
}

export function readSaved(): SavedSearch[] {
  return checkSaved(read("saved"));
}

export function writeSaved(saved: SavedSearch[]): boolean {
  return write("saved", saved);
}

/** The latest queries, the newest first. */
export function readHistory(): string[] {
  const found = read("history");
  return Array.isArray(found) ? found.filter((each): each is string => typeof each === "string") : [];
}

export function remember(q: string): void {
  if (q.trim() === "") return;
  write("history", [q, ...readHistory().filter((each) => each !== q)].slice(0, MOST_QUERIES));
}

/** What a file takes to another browser: saved searches and the latest queries. */
export function exported(): string {
  return JSON.stringify({ searches: readSaved(), queries: readHistory() }, null, 2);
}

/** Adds what a file of `exported` has, and returns the number of its searches; null for other files. */
export function imported(text: string): number | null {
  let file: { searches?: unknown; queries?: unknown } | null;
  try {
    file = JSON.parse(text) as typeof file;
  } catch {
    return null;
  }
  if (!Array.isArray(file?.searches)) return null;
  const found = checkSaved(file.searches);
  const others = readSaved().filter((each) => !found.some((other) => other.name === each.name));
  writeSaved([...found, ...others]);
  const queries = Array.isArray(file.queries) ? file.queries : [];
  queries.reverse().forEach((q) => typeof q === "string" && remember(q));
  return found.length;
}

export function forgetHistory(): void {
  write("history", []);
}
