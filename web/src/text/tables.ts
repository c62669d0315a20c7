// Reads the beginning of texts for previews: tables of CSV, and JSON.

/** The rows of the beginning of a text with separated values, at most `most`. */
export function csvRows(text: string, separator: string, most: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const character = text[at] ?? "";
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') cell += text[++at] ?? "";
      else quoted = false;
    } else if (character === '"' && cell === "") quoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = "";
    } else if (character === "\n") {
      row.push(cell.replace(/\r$/, ""));
      rows.push(row);
      row = [];
      cell = "";
    } else cell += character;
  }
  if (rows.length < most && (cell !== "" || row.length > 0)) rows.push([...row, cell]);
  return rows;
}

/** The character between the values of a table, by the ending of its name; null for other texts. */
export function separatorOf(name: string, text: string): string | null {
  if (/\.(tsv|tab)(\.\w+)?$/i.test(name)) return "\t";
  if (!/\.csv(\.\w+)?$/i.test(name)) return null;
  const head = text.slice(0, text.indexOf("\n") + 1 || text.length);
  return [",", ";", "\t"].reduce(
    (best, each) => (head.split(each).length > head.split(best).length ? each : best),
    ",",
  );
}

/** JSON with indentation; null for other texts. */
export function prettyJson(name: string, text: string): string | null {
  if (!/\.(json|geojson|ipynb)$/i.test(name) && !/^\s*[{[]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
