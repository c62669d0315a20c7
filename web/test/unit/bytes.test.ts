// UTF-8: decoding without loss, and byte offsets in texts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { byteOffset, decode, encode, fromBase64, stretches, utf16Offset } from "../../src/text/bytes";
import { keyBytes, percentKey } from "../../src/text/keys";
import { seeded } from "./seeds";

const LETTERS = ["a", "é", "日", "👩", "\u202e", "\n", "\u0000", "\ufeff", "ß", "\ud7ff", "\uffff"];

test("byte offsets and offsets of UTF-16 agree with Buffer, on random texts", () => {
  const random = seeded("byte offsets");
  for (let round = 0; round < 500; round++) {
    const letters = Array.from({ length: random.below(20) }, () => random.pick(LETTERS));
    const text = letters.join("");
    for (let cut = 0; cut <= letters.length; cut++) {
      const head = letters.slice(0, cut).join("");
      assert.equal(byteOffset(text, head.length), Buffer.byteLength(head));
      assert.equal(utf16Offset(text, Buffer.byteLength(head)), head.length);
    }
  }
});

test("decoding accepts exactly what TextDecoder accepts, on random bytes", () => {
  const random = seeded("decode");
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const starts = [
    0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x9f, 0xa0, 0x8f,
    0x90,
  ];
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from({ length: random.below(7) }, () => random.pick(starts));
    let text: string | null = null;
    try {
      text = strict.decode(bytes);
    } catch {
      // The bytes are not UTF-8.
    }
    const decoded = decode(bytes);
    assert.equal(decoded.valid, text !== null, Buffer.from(bytes).toString("hex"));
    if (text !== null) assert.equal(decoded.text, text);
    assert.equal(decoded.offsets.length, bytes.length + 1);
  }
});

test("bytes that are not UTF-8 are shown by their numbers", () => {
  assert.equal(decode(Buffer.from("caf\xe9.txt", "latin1")).text, "caf\\xe9.txt");
  assert.equal(decode(Buffer.from([0xed, 0xa0, 0x80])).text, "\\xed\\xa0\\x80");
});

test("marks cut a text without losing any of it, on random marks", () => {
  const random = seeded("marks");
  for (let round = 0; round < 500; round++) {
    const text = Array.from({ length: random.below(15) }, () => random.pick(LETTERS)).join("");
    const bytes = encode(text);
    const mark = (): [number, number] => [random.below(bytes.length + 2), random.below(bytes.length + 3)];
    const marks = Array.from({ length: random.below(4) }, mark).sort((one, other) => one[0] - other[0]);
    const cut = stretches(bytes, marks);
    assert.equal(cut.map((stretch) => stretch.text).join(""), text);
  }
});

test("marks are offsets in bytes", () => {
  const text = "naïve license";
  const from = Buffer.byteLength("naïve ");
  assert.deepEqual(stretches(encode(text), [[from, from + 7]]), [
    { text: "naïve ", marked: false },
    { text: "license", marked: true },
  ]);
});

test("keys keep their bytes in a URL", () => {
  assert.equal(percentKey({ text: "/a b/é%", bytes: null }), "%2Fa%20b%2F%C3%A9%25");
  const bytes = Buffer.from("caf\xe9", "latin1");
  const key = { text: "caf\\xe9", bytes: bytes.toString("base64") };
  assert.equal(percentKey(key), "caf%E9");
  assert.deepEqual(Buffer.from(keyBytes(key)), bytes);
  assert.equal(fromBase64("?").length, 0);
});
