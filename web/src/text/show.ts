// Shows texts of strangers: control, bidirectional and hidden characters become visible escapes.

/** A part of a text: plain, or one character that is shown by its number. */
export interface Piece {
  text: string;
  escaped: boolean;
}

/** Characters that change how others look, or that cannot be seen. */
const HIDDEN =
  /[\p{C}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029\u3164\uffa0\u{e0100}-\u{e01ef}]/gu;

function escapeOf(character: string): string {
  const named: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };
  const code = character.codePointAt(0) ?? 0;
  if (named[character] !== undefined) return named[character];
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** The parts of a text. With `lines`, tabs and line feeds stay as they are, as in the text of a document. */
export function pieces(text: string, lines = false): Piece[] {
  const found: Piece[] = [];
  let done = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (lines && /[\t\n\r]/.test(match[0])) continue;
    if (match.index > done) found.push({ text: text.slice(done, match.index), escaped: false });
    found.push({ text: escapeOf(match[0]), escaped: true });
    done = match.index + match[0].length;
  }
  if (done < text.length) found.push({ text: text.slice(done), escaped: false });
  return found;
}

/** The text with its hidden characters escaped, for places that take only text. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => piece.text)
    .join("");
}

/** True if some character of the text would have to be escaped. */
export function hasHidden(text: string): boolean {
  return pieces(text).some((piece) => piece.escaped);
}

/** The start of a text, at most `most` characters, and an ellipsis if something is left out. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
