// UTF-8: decodes bytes without losing any, and finds byte offsets in texts.

/** A text, and for each byte that it came from the offset of its character in UTF-16 units. */
export interface Decoded {
  text: string;
  /** One entry for each byte, and one for the end. */
  offsets: Uint32Array;
  /** False if some bytes were not UTF-8; these stand in the text as \xNN. */
  valid: boolean;
}

/** The length of the UTF-8 sequence at `at`, or 0 if there is none. */
function sequence(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length =
    first >= 0xc2 && first < 0xe0
      ? 2
      : first >= 0xe0 && first < 0xf0
        ? 3
        : first >= 0xf0 && first < 0xf5
          ? 4
          : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const second = bytes[at + 1] ?? 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let more = 2; more < length; more++) {
    if (((bytes[at + more] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** Two hexadecimal digits. */
export function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

/** Decodes UTF-8; each byte that does not belong to a character becomes \xNN. */
export function decode(bytes: Uint8Array): Decoded {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const offsets = new Uint32Array(bytes.length + 1);
  let text = "";
  let valid = true;
  for (let at = 0; at < bytes.length;) {
    const length = sequence(bytes, at);
    offsets.fill(text.length, at, at + Math.max(length, 1));
    if (length === 0) {
      valid = false;
      text += `\\x${hex(bytes[at] ?? 0)}`;
      at += 1;
    } else {
      text += decoder.decode(bytes.subarray(at, at + length));
      at += length;
    }
  }
  offsets[bytes.length] = text.length;
  return { text, offsets, valid };
}

export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The bytes of a text in base64; empty if it is not base64. */
export function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** The offset in UTF-16 units of a byte offset; inside of a character, that of its beginning. */
export function utf16Offset(text: string, byte: number): number {
  return decode(encode(text)).offsets[byte] ?? text.length;
}

/** The offset in bytes of UTF-8 of an offset in UTF-16 units. */
export function byteOffset(text: string, unit: number): number {
  return encode(text.slice(0, unit)).length;
}

/** A stretch of text, marked or not. */
export interface Stretch {
  text: string;
  marked: boolean;
}

/** Cuts a text at its marks, which are pairs of byte offsets in order; those that overlap are joined. */
export function stretches(bytes: Uint8Array, marks: [number, number][]): Stretch[] {
  const { text, offsets } = decode(bytes);
  const at = (byte: number): number => offsets[Math.max(0, Math.min(byte, bytes.length))] ?? text.length;
  const cut: Stretch[] = [];
  let done = 0;
  for (const [from, to] of marks) {
    const start = Math.max(done, at(from));
    const end = at(to);
    if (end <= start) continue;
    if (start > done) cut.push({ text: text.slice(done, start), marked: false });
    cut.push({ text: text.slice(start, end), marked: true });
    done = end;
  }
  if (done < text.length) cut.push({ text: text.slice(done), marked: false });
  return cut;
}
