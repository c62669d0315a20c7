// Quotes texts for a shell and for Python, so that a program gets exactly the same characters.

import { decode, encode, hex } from "./bytes";
import { hasHidden } from "./show";

const ESCAPES: Record<number, string> = { 9: "\\t", 10: "\\n", 13: "\\r", 39: "\\'", 92: "\\\\" };

/** Quotes bytes for a shell. Hidden characters and invalid UTF-8 need the $'…' of bash, ksh and zsh. */
export function shellQuoteBytes(bytes: Uint8Array): string {
  const { text, valid } = decode(bytes);
  if (valid && !hasHidden(text)) return shellQuotePlain(text);
  let quoted = "";
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    const escape = ESCAPES[byte];
    if (escape !== undefined) quoted += escape;
    else quoted += byte < 0x20 || byte >= 0x7f ? `\\x${hex(byte)}` : String.fromCharCode(byte);
    at += 1;
  }
  return `$'${quoted}'`;
}

function shellQuotePlain(text: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(text) && !text.startsWith("=")) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function shellQuote(text: string): string {
  return shellQuoteBytes(encode(text));
}

/** A text as a string literal of Python. */
export function pythonQuote(text: string): string {
  let quoted = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === "\\") quoted += `\\${character}`;
    else if (character === "\n") quoted += "\\n";
    else if (character === "\t") quoted += "\\t";
    else if (!hasHidden(character)) quoted += character;
    else
      quoted +=
        code > 0xffff
          ? `\\U${code.toString(16).padStart(8, "0")}`
          : `\\u${code.toString(16).padStart(4, "0")}`;
  }
  return `"${quoted}"`;
}
