// The answers of the HTTP API, as the page reads them. Fields that it does not use are left out.

/** A value of a document. Integers beyond 2^53 are kept as texts, so that no digit is lost. */
export type Value = string | number | boolean | null;

export interface IndexEntry {
  name: string;
  /** For users, only the last part. */
  path: string;
  documents: number;
  generation: number;
  /** When the newest commit was made. */
  committed?: string | null;
}

export interface Indexes {
  server: { name: string; version: string };
  user: { name: string; uid: number } | null;
  trimmed: boolean;
  /** How the server knows who asks; null if it does not say. */
  recognized_by?: "token" | "socket" | "proxy" | null;
  /** The path of the Unix socket that was connected to. */
  socket?: string | null;
  indexes: IndexEntry[];
}

export interface FieldInfo {
  name: string;
  kind: string;
  column: boolean;
  stored: boolean;
  searched: boolean;
}

/** What an index misses. */
export interface Incomplete {
  /** In sentences. */
  text: string;
  /** The number of paths that could not be read. */
  unread: number;
}

export interface IndexInfo {
  name: string;
  generation: number;
  committed: string | null;
  age_seconds: number | null;
  documents: number;
  fields: FieldInfo[];
  /** Null if nothing is known to be missing, and for callers who see only a part of the index. */
  completeness: Incomplete | null;
  snippets: boolean;
  like: boolean;
  /** True if documents are the entries of file systems, directories too. */
  entries: boolean;
  /** True if documents have paths and sizes, which `usage` sums up. */
  sizes: boolean;
}

export interface Snippet {
  text: string;
  start: number;
  /** Pairs of offsets in bytes of the text. */
  marks: [number, number][];
}

export interface Explanation {
  value: number;
  description: string;
  details?: Explanation[];
}

export interface Hit {
  rank: number;
  score: number;
  key: string;
  /** Base64 of the key if it is not UTF-8; `key` is escaped then. */
  key_bytes?: string | null;
  fields?: Record<string, Value[]>;
  snippets?: Snippet[] | null;
  /** Why the text could not be read. */
  text_error?: string;
  explanation?: Explanation | null;
}

export interface Bucket {
  value: Value;
  value_bytes?: string | null;
  from?: Value;
  to?: Value;
  count: number;
  nested?: Nested;
}

/** The counts of a facet within a bucket, or figures. */
export interface Nested {
  buckets?: Bucket[];
  sum?: number | string | null;
}

export interface FacetAnswer {
  facet: string;
  buckets: Bucket[];
  other: number;
  missing: number;
  partial?: boolean;
}

/** A query in another spelling. */
export interface DidYouMean {
  text: string;
  /** Each word that was changed, and what it became. */
  changed: [string, string][];
  /** For each of these, the documents with the word, and with what it became. */
  counts: [number, number][];
}

export interface SearchAnswer {
  index: string;
  generation: number;
  count: number | null;
  partial: boolean;
  partial_reason?: string | null;
  took: number;
  incomplete?: Incomplete | null;
  did_you_mean?: DidYouMean | null;
  hits: Hit[];
  after: string | null;
  facets?: FacetAnswer[];
}

export interface DocumentAnswer {
  key: string;
  key_bytes?: string | null;
  fields: Record<string, Value[]>;
  content: string | null;
  text_error?: string;
}

export interface Suggestion {
  text: string;
  kind: string;
  count?: number;
}

/** Completions of the bytes `from` to `to` of the query. */
export interface SuggestAnswer {
  from: number;
  to: number;
  suggestions: Suggestion[];
  did_you_mean: DidYouMean | null;
}

export interface UsageNode {
  name: string;
  path: string;
  path_bytes?: string | null;
  /** directory, or files for what is in the directory itself. */
  kind: string;
  count: number;
  size: number;
  newest: string | null;
}

/** An input that could not be read. */
export interface FailedInput {
  path: string;
  path_bytes?: string | null;
  reason: string;
}

/** Inputs of a kind that were left out on purpose. */
export interface LeftOut {
  what: string;
  count: number;
  first: string | null;
  first_bytes?: string | null;
}

/** A directory that was scanned, or a dump. */
export interface CoveredPlace {
  path: string;
  path_bytes?: string | null;
  /** The format of the dump; null for a scan. */
  format: string | null;
  began: string;
  entries: number;
  /** False if the scan was stopped, or if rows of the dump are missing. */
  complete: boolean;
  unread: number;
  /** The first of the unread inputs. */
  failures: FailedInput[];
  left_out: LeftOut[];
}

export interface CoverageAnswer {
  covered: CoveredPlace[];
}

export interface UsageAnswer {
  path: string;
  total: { count: number; size: number };
  children: UsageNode[];
}

/** The number of documents and the sum of their sizes. */
export interface Sums {
  count: number;
  size: number;
}

export interface GrowthNode {
  name: string;
  path: string;
  path_bytes?: string | null;
  /** directory, or files for what is in the directory itself. */
  kind: string;
  before: Sums;
  after: Sums;
}

export interface GrowthAnswer {
  /** The index of the state before. */
  with: string;
  path: string;
  path_bytes?: string | null;
  total: { before: Sums; after: Sums };
  /** The greatest change first. */
  children: GrowthNode[];
  /** The number of children that are not shown. */
  more: number;
  partial: boolean;
}

/** A problem as RFC 9457 describes it. */
export interface ProblemBody {
  type?: string;
  title: string;
  status: number;
  detail?: string;
  parameter?: string;
  position?: { offset: number; length?: number };
  request_id?: string;
}
