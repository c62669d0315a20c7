// Names of documents: texts mostly, but a path may have bytes that are not UTF-8.

import { decode, encode, fromBase64 } from "./bytes";

/** The name of a document. */
export interface DocumentKey {
  /** The name as it is shown. */
  text: string;
  /** Base64 of its bytes if it is not UTF-8, else null. */
  bytes: string | null;
}

export function keyOf(item: { key: string; key_bytes?: string | null }): DocumentKey {
  return { text: item.key, bytes: item.key_bytes ?? null };
}

/** The exact bytes of a name. */
export function keyBytes(key: DocumentKey): Uint8Array {
  return key.bytes === null ? encode(key.text) : fromBase64(key.bytes);
}

export function sameKey(one: DocumentKey | null, other: DocumentKey | null): boolean {
  return one?.text === other?.text && one?.bytes === other?.bytes;
}

/** The bytes of a name for a part of a URL: letters, digits and -._~ as they are, all others as %NN. */
export function percentKey(key: DocumentKey): string {
  const plain = /[A-Za-z0-9\-._~]/;
  return Array.from(keyBytes(key), (byte) => {
    const letter = String.fromCharCode(byte);
    return byte < 0x80 && plain.test(letter)
      ? letter
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/** The directory of a path; null for the root and what is directly in it. */
export function parentOf(path: DocumentKey): DocumentKey | null {
  const whole = keyBytes(path);
  const bytes = whole.subarray(0, whole.lastIndexOf(0x2f));
  if (whole.lastIndexOf(0x2f) <= 0) return null;
  const { text, valid } = decode(bytes);
  return {
    text,
    bytes: valid ? null : btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")),
  };
}
