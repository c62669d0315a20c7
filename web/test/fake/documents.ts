// The indexes of the fake server: made by a seeded generator, so that every run sees the same documents.

import type { FieldInfo, Value } from "../../src/api/types";
import { HOSTILE_DIRECTORIES, HOSTILE_NAMES, HOSTILE_OWNER } from "./hostile";
import { Random } from "./random";

export interface FakeDocument {
  /** The exact bytes of the key. */
  key: Buffer;
  /** The same, a character for each byte. */
  latin1: string;
  fields: Map<string, Value[]>;
  content: string | null;
}

export interface FakeIndex {
  name: string;
  path: string;
  documents: FakeDocument[];
  fields: FieldInfo[];
  snippets: boolean;
  like: boolean;
  complete: boolean;
  /** True if the caller sees only a part of it. */
  trimmed?: boolean;
  ageSeconds: number;
}

export const NOW = Date.now();
const DAY = 86_400_000;
const OWNERS = [
  "anna",
  "ben",
  "chen",
  "dana",
  "emil",
  "fatima",
  "goran",
  "hana",
  "ivo",
  "root",
  HOSTILE_OWNER,
];
const GROUPS = ["climate", "genomics", "staff", "physics"];
const EXTENSIONS = ["h5", "nc", "txt", "py", "csv", "json", "log", "tmp", "gz", "pdf", "md", "o"];
const TOPICS = ["turbulence", "genome", "climate", "lattice", "reactor", "neutrino", "ocean", "protein"];
const TEXT = `the of and a license warranty free software boundary layer transition flow model data mean
  error graph partitioning sparse matrix solver mesh grid sample result figure table method section measured
  spectrum`;
const WORDS = [...TEXT.split(/\s+/), ...TOPICS];

function field(name: string, kind: string, searched = false): FieldInfo {
  return { name, kind, column: kind !== "text", stored: kind === "text", searched };
}

const FILE_FIELDS = [
  field("path", "path"),
  field("name", "keyword"),
  field("ext", "keyword"),
  field("type", "keyword"),
  field("owner", "keyword"),
  field("group", "keyword"),
  field("size", "unsigned"),
  field("mtime", "date"),
  field("atime", "date"),
  field("mode", "unsigned"),
  field("inode", "unsigned"),
  field("links", "unsigned"),
];

/** A date in the last twelve years, mostly recent. */
function pastDate(random: Random): number {
  return NOW - random.next() ** 2.2 * 12 * 365 * DAY;
}

const dateText = (at: number): string => new Date(Math.min(at, NOW)).toISOString().replace("Z", "000000Z");

/** A size as those of real files: most are some kilobytes, and few have gigabytes. */
function fileSize(random: Random): number {
  const normal = random.next() + random.next() + random.next() + random.next() - 2;
  return random.below(25) === 0 ? 0 : Math.round(Math.exp(11 + 8 * normal));
}

interface Entry {
  type: string;
  owner: string;
  content: string | null;
  /** When its directory was in use. */
  used: number;
}

function fileDocument(random: Random, path: Buffer, { type, owner, content, used }: Entry): FakeDocument {
  const shown = path.toString("latin1");
  const name = path.subarray(path.lastIndexOf(0x2f) + 1);
  const extension =
    type === "file" && shown.lastIndexOf(".") > shown.lastIndexOf("/") + 1
      ? [shown.slice(shown.lastIndexOf(".") + 1)]
      : [];
  const size = content !== null ? Buffer.byteLength(content) : type === "directory" ? 4096 : fileSize(random);
  const modified = used + random.next() ** 2 * 200 * DAY;
  const fields = new Map<string, Value[]>([
    ["path", [path.toString("utf8")]],
    ["name", [name.toString("utf8")]],
    ["ext", extension],
    ["type", [type]],
    ["owner", [owner]],
    ["group", [random.pick(GROUPS)]],
    ["size", [size]],
    ["mtime", [dateText(modified)]],
    ["atime", [dateText(modified + random.next() ** 3 * 900 * DAY)]],
    ["mode", [type === "directory" ? 0o40755 : 0o100644]],
    ["inode", [String(2n ** 60n + BigInt(random.below(1e9)))]],
    ["links", [1]],
  ]);
  return { key: path, latin1: shown, fields, content };
}

/** A file system of 10,000 entries, with names that try to break the page. */
function fileSystem(): FakeIndex {
  const random = new Random(20261127);
  const documents: FakeDocument[] = [];
  const add = (path: string | Buffer, type: string, owner: string, used = pastDate(random)): void => {
    documents.push(fileDocument(random, Buffer.from(path as string), { type, owner, content: null, used }));
  };
  add("/data", "directory", "root");
  const directories: [string, string, number][] = [];
  for (const owner of OWNERS.slice(0, 9)) {
    add(`/data/${owner}`, "directory", owner);
    for (const topic of TOPICS.slice(0, 2 + random.below(6))) {
      const used = pastDate(random);
      add(`/data/${owner}/${topic}`, "directory", owner, used);
      for (let run = 1; run <= 1 + random.below(5); run++) {
        add(`/data/${owner}/${topic}/run${run}`, "directory", owner, used);
        directories.push([`/data/${owner}/${topic}/run${run}`, owner, used]);
      }
    }
  }
  add("/data/hostile", "directory", HOSTILE_OWNER);
  for (const name of HOSTILE_NAMES)
    add(Buffer.concat([Buffer.from("/data/hostile/"), name]), "file", HOSTILE_OWNER);
  for (const name of HOSTILE_DIRECTORIES) {
    const directory = Buffer.concat([Buffer.from("/data/hostile/"), name]);
    add(directory, "directory", HOSTILE_OWNER);
    add(Buffer.concat([directory, Buffer.from("/file.txt")]), "file", HOSTILE_OWNER);
  }
  while (documents.length < 10_000) {
    const [directory, owner, used] = random.pick(directories);
    const name = `${random.pick(WORDS)}_${random.pick(WORDS)}-${documents.length}.${random.pick(EXTENSIONS)}`;
    add(`${directory}/${name}`, "file", random.below(12) === 0 ? random.pick(OWNERS) : owner, used);
  }
  return {
    name: "fs",
    path: "/srv/indexes/fs.scanns",
    documents,
    fields: FILE_FIELDS,
    snippets: false,
    like: false,
    complete: true,
    ageSeconds: 3 * 3600,
  };
}

function prose(random: Random, words: number): string {
  return Array.from(
    { length: words },
    (_, at) => random.pick(WORDS) + (at % 11 === 10 ? ".\n" : at % 17 === 16 ? "," : ""),
  ).join(" ");
}

function fileText(random: Random, extension: string): string {
  if (extension === "csv") {
    const rows = Array.from({ length: 80 }, (_, at) =>
      [at, random.pick(TOPICS), `"${random.pick(WORDS)}, x"`, random.next().toFixed(3)].join(","),
    );
    return ["run,topic,note,value", ...rows].join("\n");
  }
  if (extension === "json")
    return JSON.stringify({ title: prose(random, 4), runs: [1, 2, 3], nested: { license: "MIT", size: 12 } });
  return prose(random, 60 + random.below(300));
}

/** Files with text: tables, JSON, and prose, some of it with markup. */
function home(): FakeIndex {
  const random = new Random(7);
  const documents: FakeDocument[] = [];
  for (let at = 0; at < 600; at++) {
    const extension = random.pick(["txt", "md", "csv", "json", "py"]);
    const folder = `/home/${random.pick(OWNERS.slice(0, 5))}/${random.pick(TOPICS)}`;
    const path = `${folder}/${random.pick(WORDS)}-${at}.${extension}`;
    documents.push(
      fileDocument(random, Buffer.from(path), {
        type: "file",
        owner: path.split("/")[2] ?? "root",
        content: fileText(random, extension),
        used: pastDate(random),
      }),
    );
  }
  const markup =
    'license <script>window.pwned = 1</script> <img src=x onerror="window.pwned = 1"> \u202e evil \u0007 ï';
  const hostile: [string, string][] = [
    ["/home/anna/<img src=x onerror=window.pwned=1>.txt", markup],
    [
      "/home/anna/<svg onload=window.pwned=1>.csv",
      "<b>a</b>,<script>window.pwned=1</script>\n=cmd|' /C calc'!A0,license",
    ],
    ["/home/anna/page.json", '{"license": "<img src=x onerror=window.pwned=1>", "__proto__": {"x": 1}}'],
  ];
  for (const [path, content] of hostile)
    documents.push(
      fileDocument(random, Buffer.from(path), {
        type: "file",
        owner: "anna",
        content,
        used: pastDate(random),
      }),
    );
  const fields = [field("text", "text", true), ...FILE_FIELDS];
  return {
    name: "home",
    path: "/srv/indexes/home.scanns",
    documents,
    fields,
    snippets: true,
    like: true,
    complete: true,
    ageSeconds: 90,
  };
}

const SURNAMES = [
  "Curie",
  "Noether",
  "Turing",
  "Hopper",
  "Lovelace",
  "Gauß",
  "Erdős",
  "Ramanujan",
  "Franklin",
];
const VENUES = ["Journal of Fluids", "Graph Theory Letters", "Ocean Science", "Computing Surveys"];

/** Records: papers with a title, a body, a year, authors and a venue. */
function papers(): FakeIndex {
  const random = new Random(1958);
  const documents = Array.from({ length: 2_000 }, (_, at): FakeDocument => {
    const title = prose(random, 5 + random.below(5)).replace(/[.,\n]/g, "");
    const authors = [...new Set([random.pick(SURNAMES), random.pick(SURNAMES)])];
    const fields = new Map<string, Value[]>([
      ["title", [title.charAt(0).toUpperCase() + title.slice(1)]],
      ["year", [1958 + Math.floor(68 * Math.sqrt(random.next()))]],
      ["authors", authors],
      ["venue", [random.pick(VENUES)]],
      ["citations", [random.logarithmic(1, 5000) - 1]],
    ]);
    const key = `paper-${String(at).padStart(4, "0")}`;
    return { key: Buffer.from(key), latin1: key, fields, content: prose(random, 120) };
  });
  const title = { ...field("title", "keyword", true), stored: true };
  const fields = [
    title,
    field("body", "text", true),
    field("year", "unsigned"),
    field("authors", "keyword"),
    field("venue", "keyword"),
    field("citations", "unsigned"),
  ];
  return {
    name: "papers",
    path: "papers.scanns",
    documents,
    fields,
    snippets: true,
    like: true,
    complete: true,
    ageSeconds: 40 * 86400,
  };
}

/** The documents of a file system some days ago: fewer, other sizes, and a directory that is gone. */
function earlier(files: FakeIndex): FakeDocument[] {
  const random = new Random(5);
  const isNew = /^\/data\/(anna\/genome|hostile\/javascript|chen$|chen\/)/;
  const kept = files.documents.filter(({ latin1 }) => random.below(9) > 0 && !isNew.test(latin1));
  const documents = kept.map((document): FakeDocument => {
    if (!/^\/data\/(ben|goran|hostile\/caf)/.test(document.latin1)) return document;
    const size = Number(document.fields.get("size")?.[0] ?? 0) * 3 + 1;
    return { ...document, fields: new Map([...document.fields, ["size", [size]]]) };
  });
  const gone = Buffer.from("/data/<img src=x onerror=window.pwned=1>\u202egone");
  for (let at = 0; at < 4; at++) {
    const path = Buffer.concat([gone, Buffer.from(`/sub${at % 2}/${at}.h5`)]);
    documents.push(
      fileDocument(random, path, { type: "file", owner: "ivo", content: "x".repeat(9e6), used: NOW - 9e9 }),
    );
  }
  return documents;
}

/** The text of files of two directories, of which one is alone in the one above it. */
function roots(): FakeIndex {
  const random = new Random(11);
  const names = ["git/a.txt", "git/b.txt", "perl/c.txt"].map((name) => `/usr/share/doc/${name}`);
  const documents = [...names, "/usr/include/stdio.h", "/usr/include/linux/loop.h"].map((path) =>
    fileDocument(random, Buffer.from(path), {
      type: "file",
      owner: "root",
      content: fileText(random, "txt"),
      used: pastDate(random),
    }),
  );
  return { ...home(), name: "roots", path: "/srv/indexes/roots.scanns", documents };
}

/** All indexes by name. */
export function fakeIndexes(): Map<string, FakeIndex> {
  const files = fileSystem();
  const all = [
    files,
    home(),
    papers(),
    { ...files, name: "empty", path: "empty.scanns", documents: [] },
    {
      ...files,
      name: "scratch",
      path: "scratch.scanns",
      documents: files.documents.slice(0, 3_000),
      complete: false,
      ageSeconds: 12 * 86400,
    },
    { ...files, name: "monday", path: "monday.scanns", documents: earlier(files), ageSeconds: 5 * 86400 },
    {
      ...files,
      name: "part",
      path: "part.scanns",
      documents: files.documents.slice(0, 3_000),
      trimmed: true,
    },
    { ...files, name: "locked", path: "locked.scanns" },
    roots(),
  ];
  return new Map(all.map((index) => [index.name, index]));
}
