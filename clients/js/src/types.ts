// Generated from the OpenAPI document by `python -m tests.make_client_types`; do not edit.

/** One page of a list; `nextCursor` is null on the last one. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** Attempts that ended within a step, with one outcome. */
export interface Activity {
  start: string;
  outcome: "completed" | "failed" | "review_needed" | "retry";
  /** All of them: those of files, of web pages and others. */
  jobs: number;
  files: number;
  /** Web pages. */
  pages: number;
  /** Of the documents that were stored. */
  tokens: number;
  /** Of the files that were read; of web pages: of their text. */
  bytes: number;
}

export interface ActivityView {
  from: string;
  to: string;
  stepSeconds: number;
  /** By start and outcome; steps in which nothing ended are left out. */
  items: Activity[];
}

export interface ApiKey {
  id: string;
  applicationId: string;
  name: string;
  role: "viewer" | "editor" | "admin";
  /** The first 10 characters of the key. */
  prefix: string;
  /** The collections that the key may see; null: everything. */
  collectionIds: string[] | null;
  createdAt: string;
  /** To the hour; null: not used since the upgrade to the version that notes it. A session of the dashboard counts when it begins. */
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface Application {
  id: string;
  name: string;
  settings: ApplicationSettings;
  isDefault: boolean;
  createdAt: string;
}

/** Fields that are left out stay unchanged. */
export interface ApplicationPatch {
  name?: string | null;
  settings?: SettingsPatch;
}

export interface ApplicationSettings {
  weight: number;
  tokensPerDay: number | null;
  reviews: ("low_coverage" | "mass_deletion" | "flagged_content")[];
  chunking: ChunkingView;
  /** Its own; those of the installation apply for the rest. */
  quotas: Record<string, number>;
}

/** A file inside the file. */
export interface Attachment {
  name: string;
  sizeBytes?: number | null;
  mediaType?: string | null;
}

/** total = accepted + unchanged + duplicate + rejected; the states add up to accepted. */
export interface Batch {
  id: string;
  applicationId: string;
  createdAt: string;
  updatedAt: string;
  /** When the last of its sources ended; null while one is open. */
  completedAt: string | null;
  total: number;
  accepted: number;
  unchanged: number;
  duplicate: number;
  rejected: number;
  completed: number;
  partial: number;
  failed: number;
  cancelled: number;
  processing: number;
  pending: number;
  reviewNeeded: number;
  /** Of the cancelled: their sources were deleted. */
  deleted: number;
}

/** A count that stops at a limit, so that it never takes long. */
export interface BoundedCount {
  count: number;
  /** There are more than `count`. */
  isMore: boolean;
}

/** What a bulk action would do now. */
export interface BulkPlan {
  /** Rows of the filter, counted up to 10,000. */
  matched: number;
  /** False: there are at least so many. */
  isExact: boolean;
  /** Rows among them that the action would change. */
  eligible: number;
  notEligible: Refused[];
}

export interface BulkStarted {
  /** A job of the type `bulk`; its `result` says what was changed and what was left alone. */
  jobId: string;
  /** Rows that it goes through: those that match now, the newest million at most. */
  rowCount: number;
}

export interface Cancelled {
  knowledgeSourceId: string;
  jobIds: string[];
}

export interface Changed {
  batchId: string;
  jobCount: number;
  jobIds: string[];
}

export interface CheckedRobots {
  /** For the start page. `unavailable`: the host answers with an error, so nothing is crawled. */
  verdict: "allowed" | "disallowed" | "unavailable";
  /** What robots.txt asks for between two requests. */
  crawlDelaySeconds: number | null;
}

export interface CheckedSitemap {
  /** Pages in scope that the sitemaps list, without the start page. */
  pageCount: number;
  /** False: not all sitemaps were read, or they list more than the limit and 1,000 pages. */
  isComplete: boolean;
  /** The first ten. */
  examples: string[];
  /** Listed addresses that the run would not fetch, by reason. */
  skipped: Record<string, number>;
}

export interface CheckedUrl {
  /** The normalised address: the identity of the source. */
  url: string;
  /** The source with this address: it would be fetched again. */
  knowledgeSourceId: string | null;
  /** Why the page cannot be read now, as its job would fail; null: it can. */
  refusal: Refusal | null;
  httpStatus: number | null;
  /** The address after redirects. */
  finalUrl: string | null;
  /** Addresses that redirect, in order. */
  redirects: string[];
  mediaType: string | null;
  title: string | null;
  /** False: the page asks robots not to index it, so its text would not be stored. */
  isIndexable: boolean;
  /** Null for a single page: robots.txt is for crawlers. */
  robots: CheckedRobots | null;
  /** Null for a single page, and where robots.txt could not be read. */
  sitemap: CheckedSitemap | null;
}

/** What was checked; without a database, `database`, `listener` and `listener_problem` only. */
export interface Checks {
  database: boolean;
  pendingMigrations?: number;
  /** False while notifications do not arrive: polling then delivers all progress, but later. */
  listener: boolean;
  /** Why not: no connection; one through a pooler in transaction mode, which delivers none (set INGEST_LISTEN_URL); or `not_delivered`: INGEST_LISTEN_URL may name another database. */
  listenerProblem?: "not_connected" | "transaction_pooler" | "not_delivered" | null;
  /** Workers with a live heartbeat, in all processes. */
  workers?: number | null;
  /** Since any worker was alive; null if none ever was. */
  workerSilentSeconds?: number | null;
  /** A job is ready and no worker is alive, both for at least INGEST_WORKER_SILENCE. */
  jobsUnattended?: boolean;
  /** Null: this process has none. */
  workerProcesses?: WorkerProcessesCheck | null;
  /** An operator has paused the workers: see `ingest resume`, PUT /api/worker/config. */
  paused?: boolean;
  /** Null while the embedding provider responds, or if it runs in this process. */
  provider?: ProviderFailure | null;
  /** Disks with less free space than INGEST_DISK_RESERVE, so that uploads are refused: `files`, `database`. */
  lowDisks?: string[];
  /** Whether the heartbeat of this worker process is live. Null in other processes. */
  heartbeat?: boolean | null;
  /** Modules that this process did not find when it started. */
  missingParsers?: MissingParser[];
  sandbox?: Sandbox | null;
}

export interface Chunk {
  id: string;
  documentId: string;
  ordinal: number;
  content: string;
  tokenCount: number;
  /** Above the start of the chunk, outermost first. */
  headings: string[];
  /** The same for every section that the chunk contains, in reading order. */
  sections: string[][];
  page: number | null;
  pageEnd: number | null;
  charStart: number;
  charEnd: number;
}

/** A chunk that can be cited. */
export interface ChunkView {
  chunkId: string;
  knowledgeSourceId: string;
  documentId: string;
  title: string;
  /** Path, path inside the uploaded file, or URL. */
  uri: string;
  mediaType: string;
  /** Of the source, as it was given with the upload. */
  metadata: Record<string, unknown>;
  /** What the document says about itself: author, date, front matter … */
  documentMetadata: Record<string, unknown>;
  /** The date that the document states, in its own words. */
  publishedAt: string | null;
  /** When the source was added. */
  createdAt: string;
  /** When the document was processed last. */
  updatedAt: string;
  /** Place in the document, from 0. */
  ordinal: number;
  page: number | null;
  pageEnd: number | null;
  /** Place in the text of the document, in characters, like `charEnd`. */
  charStart: number;
  charEnd: number;
  /** Above the start of the chunk, outermost first. */
  headings: string[];
  /** The same for every section that the chunk contains, in reading order. */
  sections: string[][];
  content: string;
}

/** A field that is null or left out is inherited: from the application, else the service. */
export interface Chunking {
  /** Tokens, at most the limit of the embedding model. */
  size?: number | null;
  /** Tokens that neighbours share, at most half of the size. */
  overlap?: number | null;
  /** What ends a chunk before it is full: a major heading, the page, every row, or nothing. */
  by?: "heading" | "page" | "row" | "size" | null;
  /** Of web sites: whether menus, footers and other blocks that repeat at the edges of the pages are left out. */
  leaveOutFurniture?: boolean | null;
}

export interface ChunkingView {
  size: number | null;
  overlap: number | null;
  by: "heading" | "page" | "row" | "size" | null;
  leaveOutFurniture: boolean | null;
}

export interface Collection {
  id: string;
  applicationId: string;
  /** Different from those of the application's other collections. */
  name: string;
  description: string;
  metadata: Record<string, unknown>;
  sourceCount: number;
  createdAt: string;
  updatedAt: string;
}

/** Fields that are left out stay unchanged; `metadata` is replaced as a whole. */
export interface CollectionPatch {
  name?: string | null;
  description?: string | null;
  metadata?: Record<string, unknown> | null;
}

/** `pages` is the sum of `withText`, `empty`, `unread` and `failed`. */
export interface Coverage {
  pages: number;
  withText: number;
  /** Pages of `withText` whose text was recognised in an image. */
  byOcr: number;
  /** Pages with nothing to read. */
  empty: number;
  /** Pages with images only, not recognised. */
  unread: number;
  failed: number;
  /** Numbers of failed and unread pages, the first 100. */
  lost: number[];
}

export interface Crawl {
  id: string;
  jobId: string;
  provider: "builtin" | "firecrawl";
  status: "pending" | "running" | "finishing" | "completed" | "failed" | "cancelled";
  pageCount: number;
  /** Links that were not followed, by reason. */
  skipped: Record<string, number>;
  /** Whether the run saw every page; null while it is open. Pages are removed only if true. */
  isComplete: boolean | null;
  /** Number of pages by outcome, tokens spent and saved; null while it is open. */
  digest: Record<string, unknown> | null;
  errorCode: string | null;
  errorMessage: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

export interface CrawlPage {
  id: string;
  uri: string;
  depth: number;
  jobId: string | null;
  status: "queued" | "over_limit" | "new" | "changed" | "unchanged" | "kept" | "duplicate" | "gone" | "skipped" | "failed" | "held" | "removed";
  httpStatus: number | null;
  errorCode: string | null;
  errorMessage: string | null;
  documentId: string | null;
  duplicateOf: string | null;
  contentHash: string | null;
  chunkCount: number;
  tokensSpent: number;
  tokensSaved: number;
  createdAt: string;
  updatedAt: string;
}

/** The fields after `crawlLinks` configure the crawl of a site; a single page takes none. */
export interface CrawlRequest {
  url: string;
  crawlLinks?: boolean;
  /** Maximum number of pages; 1,000 by default. */
  limit?: number | null;
  /** Maximum number of links from the start; unlimited by default. */
  maxDepth?: number | null;
  /** RE2 expressions; at least one must be found in the path of a page (with its query). */
  includePaths?: string[];
  excludePaths?: string[];
  provider?: "builtin" | "firecrawl" | null;
}

/** The crawl settings of a site, from the latest request. */
export interface CrawlView {
  limit: number;
  maxDepth: number | null;
  includePaths: string[];
  excludePaths: string[];
  provider: string;
}

export interface CreatedKey {
  id: string;
  applicationId: string;
  name: string;
  role: "viewer" | "editor" | "admin";
  /** The first 10 characters of the key. */
  prefix: string;
  /** The collections that the key may see; null: everything. */
  collectionIds: string[] | null;
  createdAt: string;
  /** To the hour; null: not used since the upgrade to the version that notes it. A session of the dashboard counts when it begins. */
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** The key itself: only its digest is stored. */
  key: string;
}

export interface DatabaseView {
  isEmbedded: boolean;
  version: string;
  pgvectorVersion: string | null;
  /** Null: the role may not ask. */
  sizeBytes: number | null;
  /** Number of the newest migration that was applied. */
  migration: number | null;
  /** Number of the newest migration of this version of the service. */
  expectedMigration: number;
}

export interface Delivery {
  id: string;
  event: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  /** HTTP or SMTP status; null: no response. */
  lastStatus: number | null;
  lastError: string | null;
  lastAttemptAt: string | null;
  deliveredAt: string | null;
  createdAt: string;
  jobId: string | null;
}

export interface DeliveryWithBody {
  id: string;
  event: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  /** HTTP or SMTP status; null: no response. */
  lastStatus: number | null;
  lastError: string | null;
  lastAttemptAt: string | null;
  deliveredAt: string | null;
  createdAt: string;
  jobId: string | null;
  /** The exact text that is sent. */
  body: string;
  /** Of the last attempt that ended, with the signature; null: none did, or by e-mail. */
  headers: Record<string, string> | null;
  /** The beginning of what the receiver answered to it. */
  answer: string | null;
}

export interface Desired {
  desired: number;
  /** Workers that are alive and not stopping. */
  current: number;
  /** Jobs that can start now or within a minute; not those held back by a limit or a pause. */
  ready: number;
  /** Jobs that wait because their type, or everything, is paused or disabled. */
  paused: number;
  oldestSeconds: number;
  /** `paused`: all work is paused; `age`: the oldest ready job has waited too long; `running`: running jobs keep their workers; `cooling_down`, `warming_up`: fewer or more workers are needed, but not for long enough yet. */
  reason: "idle" | "paused" | "depth" | "age" | "running" | "cooling_down" | "warming_up";
}

export interface Document {
  id: string;
  knowledgeSourceId: string;
  uri: string;
  title: string | null;
  mediaType: string;
  status: string;
  errorCode: string | null;
  /** For a `partial` document: what is missing. */
  errorMessage: string | null;
  chunkCount: number;
  tokenCount: number;
  coverage: Coverage;
  encoding: Encoding | null;
  extractor: string;
  metadata: Record<string, unknown>;
  /** Stable codes of anomalies that are not errors. */
  warnings: string[];
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
}

/** A chunk that says the same as a hit. */
export interface Duplicate {
  chunkId: string;
  knowledgeSourceId: string;
  documentId: string;
  title: string;
  uri: string;
}

export interface EarlierModel {
  provider: string;
  name: string;
  dimension: number;
  /** Whether questions can be asked of it. If not, words find its documents. */
  isReachable: boolean;
}

export interface EffectiveChunking {
  size: number;
  overlap: number;
  by: "heading" | "page" | "row" | "size";
  leaveOutFurniture: boolean;
}

/** Shares of the halves in the fused score; they add up to 1. */
export interface EffectiveWeights {
  vector: number;
  keyword: number;
}

export interface Embedder {
  provider: string;
  model: string;
  dimension: number;
}

export interface EmbeddingView {
  provider: string;
  model: string;
  dimension: number;
  /** Longest text that the model accepts. */
  maxTokens: number;
  /** Size of a chunk, unless an application or a source has a setting of its own. */
  chunkTokens: number;
  chunkOverlap: number;
}

/** How bytes were decoded; null for formats that define their encoding. */
export interface Encoding {
  name: string;
  /** 1: declared by a byte order mark, or certain. */
  confidence: number;
  /** Characters that could not be decoded and became U+FFFD. */
  replaced?: number;
}

/** Fields that are left out stay unchanged. */
export interface EndpointPatch {
  url?: string | null;
  events?: ("source.completed" | "source.partial" | "source.failed" | "source.review_needed" | "batch.completed" | "rescrape.completed" | "job.failed")[] | null;
  description?: string | null;
  isEnabled?: boolean | null;
}

export interface EvaluatedQuestion {
  query: string;
  filter: Record<string, unknown> | null;
  /** Judgements with a grade above 0. */
  answers: number;
  /** Of each run. */
  measures: (Record<string, number>)[];
}

export interface EvaluationRequest {
  /** How to ask each question; the first is what the others are compared with. */
  settings: SearchSettings[];
  /** Most questions to ask. */
  questions?: number;
  /** Hits asked for. */
  depth?: number;
}

/** All questions, asked with one of the settings. */
export interface EvaluationRun {
  /** Searches that lacked a part: vectors, or the reranker. */
  degraded: number;
  /** `ndcg@10`, `mrr`, `hit@1` and `recall@5` … up to the depth, each from 0 to 1. */
  measures: Record<string, Mean>;
  /** From the first run, question by question: above 0 is better, and chance does not explain it if 0 is outside the interval. Null: it is the first. */
  differences: Record<string, Mean> | null;
}

export interface EvaluationView {
  /** Questions of the set that have an answer. */
  questionCount: number;
  /** How many of them were asked, chosen by chance, but the same every time: fewer if `questions` is less, or the time was up. */
  asked: number;
  /** The code of the error that ended the evaluation early. */
  stoppedBy: string | null;
  /** Of the settings, in their order. */
  runs: EvaluationRun[];
  questions: EvaluatedQuestion[];
}

export interface Event {
  seq: number;
  type: string;
  data: Record<string, unknown>;
  createdAt: string;
}

export interface ExplainedModel {
  provider: string;
  name: string;
  dimension: number;
}

/** Which jobs; at least one field is required. */
export interface FailedJobs {
  batchId?: string | null;
  knowledgeSourceId?: string | null;
  type?: string | null;
  errorCode?: string | null;
}

/** `isMore`: only the newest 10,000 failures were counted. */
export interface FailureView {
  count: number;
  /** There are more than `count`. */
  isMore: boolean;
  code: string;
}

/** What the settings of the installation switch on. */
export interface Features {
  /** Text in pictures is read. */
  ocr: boolean;
  /** Pages can be fetched by Firecrawl. */
  firecrawl: boolean;
  /** Notifications can be sent by e-mail. */
  smtp: boolean;
  /** Searches rank their best hits again. */
  rerank: boolean;
  /** `/docs` is served. */
  docs: boolean;
}

export interface FieldError {
  /** The location, such as `body.name` or `query.limit`. */
  field: string;
  message: string;
  code: string;
}

export interface FileDigest {
  path: string;
  sha256: string;
}

export interface Health {
  status: string;
}

/** Why a hit is where it is. The parts of `words` and `pairs` add up to its `bm25`. */
export interface HitExplanation {
  chunkId: string;
  words: WordMatch[];
  pairs: PairMatch[];
  /** What its cosine gives to the fused score; null: not a hybrid search. */
  byVectors: number | null;
  /** What its BM25 gives. Both add up to `score`, unless the hits were reranked. */
  byWords: number | null;
  /** Place among the distinct chunks, before reranking and diversity; from 1. */
  firstPlace: number;
  /** Place after reranking; null: not reranked. */
  rerankedPlace: number | null;
  /** The sentence by which its duplicates count as the same; null: it has none. */
  sharedSentence: string | null;
}

export interface InstallationView {
  version: string;
  pythonVersion: string;
  settings: SettingView[];
  embedding: EmbeddingView;
  /** Null: no text is read in pictures. */
  ocr: OcrView | null;
  storage: StorageView;
  database: DatabaseView;
}

export interface InvalidRequest {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** Stable name of the error. */
  code: string;
  /** The first 20 errors; empty if the error concerns no single field. */
  errors: FieldError[];
}

export interface Job {
  id: string;
  type: string;
  status: "pending" | "processing" | "completed" | "failed" | "cancelled" | "review_needed";
  stage: string | null;
  /** Percentage of the current attempt, 0 to 100. */
  progress: number;
  attempts: number;
  maxAttempts: number;
  priority: number;
  knowledgeSourceId: string | null;
  batchId: string | null;
  parentJobId: string | null;
  result: Record<string, unknown> | null;
  embeddingConfig: Record<string, unknown> | null;
  lastErrorCode: string | null;
  lastErrorMessage: string | null;
  reviewReason: string | null;
  /** For a pending job: `paused`, `max_concurrent`, `rate_limited`, or a reason from the handler; null: it waits for a free worker. */
  waitReason: string | null;
  /** For a pending job: not before this time; null: as soon as a worker is free. */
  runAt: string | null;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
  /** Duration of the last attempt, if the job completed or failed. */
  durationMs: number | null;
  /** Last heartbeat of the worker that holds the job. */
  heartbeatAt: string | null;
  sourceName: string | null;
  /** Of the file inside a file, or the page of a site, that the job is for; else of its source. */
  uri: string | null;
}

/** One of `filter` and `ids`, and an action. */
export interface JobBulk {
  /** Instead of a filter: these, those that do not exist are ignored. */
  ids?: string[] | null;
  /** Only count. */
  dryRun?: boolean;
  action: "retry" | "cancel" | "delete";
  filter?: JobSelection | null;
}

export interface JobCounts {
  items: OpenJobs[];
}

export interface JobLog {
  attempt: number;
  level: string;
  stage: string | null;
  message: string;
  details: Record<string, unknown>;
  durationMs: number | null;
  createdAt: string;
}

/** The conditions of the list; an empty object selects everything. */
export interface JobSelection {
  status?: "pending" | "processing" | "completed" | "failed" | "cancelled" | "review_needed" | null;
  type?: string | null;
  knowledgeSourceId?: string | null;
  batchId?: string | null;
  parentJobId?: string | null;
  errorCode?: string | null;
  /** A collection that the job's source is in */
  collectionId?: string | null;
  /** In the name, or the path or URL, of the source, or of the file inside it. In any case. A request reads the newest 100,000 sources, or 10,000 jobs, that the other conditions leave: a page may have few items, even none, and a `nextCursor` that reads on */
  q?: string | null;
  /** Queued then or later */
  since?: string | null;
  /** Contained in the metadata of the source. */
  metadata?: Record<string, unknown> | null;
}

export interface JobType {
  type: string;
  handler: string;
  maxAttempts: number;
  backoffBaseSeconds: number;
  backoffCapSeconds: number;
  timeoutSeconds: number;
  stageTimeoutSeconds: number;
  maxConcurrent: number | null;
  ratePerMinute: number | null;
  payloadSchema: Record<string, unknown> | null;
  isBuiltIn: boolean;
  isEnabled: boolean;
  isPaused: boolean;
}

/** Fields that are left out stay unchanged; null removes a limit.
 *
 * Without a schema, requests cannot queue jobs of the type. */
export interface JobTypePatch {
  isEnabled?: boolean | null;
  isPaused?: boolean | null;
  maxAttempts?: number | null;
  backoffBaseSeconds?: number | null;
  backoffCapSeconds?: number | null;
  timeoutSeconds?: number | null;
  stageTimeoutSeconds?: number | null;
  maxConcurrent?: number | null;
  ratePerMinute?: number | null;
  payloadSchema?: Record<string, unknown> | null;
}

export interface JobWithLogs {
  id: string;
  type: string;
  status: "pending" | "processing" | "completed" | "failed" | "cancelled" | "review_needed";
  stage: string | null;
  /** Percentage of the current attempt, 0 to 100. */
  progress: number;
  attempts: number;
  maxAttempts: number;
  priority: number;
  knowledgeSourceId: string | null;
  batchId: string | null;
  parentJobId: string | null;
  result: Record<string, unknown> | null;
  embeddingConfig: Record<string, unknown> | null;
  lastErrorCode: string | null;
  lastErrorMessage: string | null;
  reviewReason: string | null;
  /** For a pending job: `paused`, `max_concurrent`, `rate_limited`, or a reason from the handler; null: it waits for a free worker. */
  waitReason: string | null;
  /** For a pending job: not before this time; null: as soon as a worker is free. */
  runAt: string | null;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
  /** Duration of the last attempt, if the job completed or failed. */
  durationMs: number | null;
  /** Last heartbeat of the worker that holds the job. */
  heartbeatAt: string | null;
  sourceName: string | null;
  /** Of the file inside a file, or the page of a site, that the job is for; else of its source. */
  uri: string | null;
  logs?: JobLog[];
}

export interface JobsOfType {
  type: string;
  ready: number;
  /** Age of the oldest ready job. */
  oldestSeconds: number | null;
  processing: number;
  /** Running for over five minutes longer than their timeout. */
  overdue: number;
  failed: number;
  reviewNeeded: number;
}

export interface Judgement {
  id: string;
  set: string;
  query: string;
  filter: Record<string, unknown> | null;
  knowledgeSourceId: string;
  /** Null: the document is gone; a later run of its source may bring it back. */
  documentId: string | null;
  uri: string;
  /** The words that were judged. */
  quote: string;
  page: number | null;
  /** 0: no answer; 1 to 3: the higher, the better. */
  grade: number;
  /** Name of the API key; null: the operator. */
  judgedBy: string | null;
  createdAt: string;
  judgedAt: string;
}

export interface JudgementSet {
  name: string;
  questionCount: number;
  judgementCount: number;
  /** Judgements with a grade above 0. */
  relevantCount: number;
  /** When the last of them was made. */
  judgedAt: string;
}

export interface KnownFile {
  /** Position in the request's `files`. */
  index: number;
  verdict: "unchanged" | "duplicate";
  knowledgeSourceId: string | null;
  /** The job that still processes these bytes, if any. */
  jobId: string | null;
}

/** Limits of all workers together, in any minute; null: as fast as the provider accepts. */
export interface LaneLimits {
  requestsPerMinute?: number | null;
  tokensPerMinute?: number | null;
}

export interface LaneLimitsView {
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
}

/** A provider whose requests are paused, or that fails. */
export interface LaneView {
  /** `provider/model`; for the operator also which key and endpoint. */
  lane: string;
  /** `rate_limited`, `provider_unavailable`, `probe`: a request finds out whether it works again, or `provider_paused`: by the operator. Null: not paused at the moment. */
  reason: string | null;
  pausedUntil: string | null;
  failingSince: string | null;
  /** The error that keeps pausing the lane. */
  errorCode: string | null;
  /** When the operator paused it. */
  pausedSince?: string | null;
  /** Who paused it and why, in the operator's words. */
  note?: string | null;
}

/** The latest firing of a tick that one replica runs for all. */
export interface LastFiring {
  name: string;
  scheduledFor: string;
  firedAt: string;
}

export interface LastRun {
  crawlId: string;
  jobId: string;
  status: "pending" | "running" | "finishing" | "completed" | "failed" | "cancelled";
  errorCode: string | null;
  errorMessage: string | null;
  createdAt: string;
  endedAt: string | null;
}

/** Hits below any of these are left out, and so are hits without the score. */
export interface LeastScores {
  cosine?: number | null;
  bm25?: number | null;
  /** Has an effect only where the hits are reranked. */
  rerank?: number | null;
}

/** A block that repeats on the pages of a site. */
export interface LeftOut {
  /** Where in the text it would be, in characters. */
  at: number;
  /** Its Markdown, up to 2,000 characters. */
  text: string;
  /** There is more of it. */
  isCut: boolean;
}

export interface LeftOutBlocks {
  items: LeftOut[];
}

/** Verdicts add up to the total. States are counted up to 5,000 accepted files. */
export interface ListedBatch {
  id: string;
  createdAt: string;
  updatedAt: string;
  /** When the last of its sources ended; null while one is open. */
  completedAt: string | null;
  total: number;
  accepted: number;
  unchanged: number;
  duplicate: number;
  rejected: number;
  /** Accepted files by the state of their sources; null for larger batches. */
  states: Record<string, number> | null;
  /** Of the cancelled: their sources were deleted. */
  deleted: number | null;
}

export interface Me {
  application: OwnApplication;
  role: "viewer" | "editor" | "admin";
  isOperator: boolean;
  /** null: the operator key, which has no name. */
  keyName: string | null;
  /** The collections that the key may see; null: everything. */
  collectionIds: string[] | null;
  /** When the session ends unless it is used before; null: the request came with a key. */
  expiresAt: string | null;
  version: string;
  features: Features;
  embedder: Embedder;
}

/** Over the questions, with its interval of 95 %, by bootstrap. */
export interface Mean {
  mean: number;
  low: number;
  high: number;
}

/** The sources to add and to remove; at least one. */
export interface MembersChange {
  add?: string[];
  remove?: string[];
}

/** Time of each step. `vectors` and `words` run at once, so `total` may be less than the sum. */
export interface Milliseconds {
  embed?: number;
  /** To find the documents that pass the filter. */
  filter?: number;
  vectors?: number;
  words?: number;
  /** To score what only one half found by the other half too. */
  fuse?: number;
  load?: number;
  rerank?: number;
  explain?: number;
  total?: number;
}

/** A module that is not installed. */
export interface MissingParser {
  module: string;
  /** File name extensions that cannot be read without it. */
  formats: string[];
}

export interface Model {
  provider: string;
  name: string;
  dimension: number;
}

export interface ModelChange {
  /** The model of the current settings. */
  model: Model;
  /** Other models that documents are searched by. */
  earlierModels: EarlierModel[];
  documents: number;
  /** Documents that are searched by another model. */
  outdated: number;
  /** Those of `outdated` that have their new vectors: searches change over when all have. */
  ready: number;
  /** The `reembed` job that waits or runs. */
  jobId: string | null;
}

export interface NewApplication {
  name: string;
}

export interface NewCollection {
  name: string;
  description?: string;
  metadata?: Record<string, unknown>;
}

export interface NewEndpoint {
  url: string;
  events: ("source.completed" | "source.partial" | "source.failed" | "source.review_needed" | "batch.completed" | "rescrape.completed" | "job.failed")[];
  description?: string;
}

export interface NewJob {
  type: string;
  /** Identifiers, never content; at most 16 KiB. No response contains it. */
  payload?: Record<string, unknown>;
  /** Higher is first. Jobs below 0 run after all interactive work. */
  priority?: number;
  knowledgeSourceId?: string | null;
  delaySeconds?: number | null;
  runAt?: string | null;
  idempotencyKey?: string | null;
}

export interface NewJobType {
  isEnabled?: boolean | null;
  isPaused?: boolean | null;
  maxAttempts?: number | null;
  backoffBaseSeconds?: number | null;
  backoffCapSeconds?: number | null;
  timeoutSeconds?: number | null;
  stageTimeoutSeconds?: number | null;
  maxConcurrent?: number | null;
  ratePerMinute?: number | null;
  payloadSchema?: Record<string, unknown> | null;
  type: string;
  /** Name of the handler, if it differs from the type. */
  handler?: string | null;
}

export interface NewJudgement {
  /** The set that it belongs to, which it creates. */
  set?: string;
  query: string;
  /** That of the search, if it is a part of the question. Up to 4 KiB. */
  filter?: SearchFilter;
  /** The hit. */
  chunkId: string;
  /** Words of the hit that are judged; null: the sentence that answers the query best. */
  quote?: string | null;
  /** 0: no answer; 1 to 3: the higher, the better. */
  grade: number;
}

export interface NewKey {
  name: string;
  role: "viewer" | "editor" | "admin";
  /** The collections that the key may see, with the role `viewer`; null: everything. */
  collectionIds?: string[] | null;
}

export interface NextTimes {
  /** The next times, in order. A run starts up to half an hour later: sources are spread out. */
  next: string[];
}

export interface Nightly {
  /** The next times, in order. A run starts up to half an hour later: sources are spread out. */
  next: string[];
  /** When all sources without a schedule of their own are fetched; null: never. */
  schedule: ScheduleView | null;
}

export interface NotReady {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** Stable name of the error. */
  code: string;
  checks: Checks;
}

export interface OcrView {
  /** With its version. */
  engine: string;
  /** Empty: all that the engine has. */
  languages: string[];
}

/** Open jobs of a type that run in the same stage or wait for the same reason. */
export interface OpenJobs {
  status: "pending" | "processing" | "completed" | "failed" | "cancelled" | "review_needed";
  type: string;
  stage: string | null;
  /** Null: they run, or wait for a free worker. */
  waitReason: string | null;
  lastErrorCode: string | null;
  /** The message of one of these jobs. */
  lastErrorMessage: string | null;
  count: number;
  /** When the first of these jobs may continue. */
  until: string | null;
}

/** Counts of jobs stop at 10,000. */
export interface OverviewView {
  /** Jobs that wait for a free worker. */
  ready: BoundedCount;
  running: BoundedCount;
  /** Largest count first. */
  waiting: WaitingView[];
  /** Jobs that have failed within the last 24 hours, and were not retried since. */
  failed: BoundedCount;
  /** The same by error code, largest count first, up to 20; of more than 10,000, the newest. */
  failures: FailureView[];
  reviewNeeded: BoundedCount;
  /** Age of the oldest job that waits for a free worker or a limit; null: there is none. */
  oldestReadySeconds: number | null;
  /** The operator has paused all work. */
  isPaused: boolean;
  pausedTypes: PausedType[];
  /** Providers that are paused or failing, whichever application uses them. */
  lanes: LaneView[];
  workers: WorkersView;
  usage: UsageView;
}

export interface OwnApplication {
  id: string;
  name: string;
}

/** Quotas of the application; null or left out: those of the installation. */
export interface OwnQuotas {
  storedBytes?: number | null;
  stagedBytes?: number | null;
  sources?: number | null;
  pendingJobs?: number | null;
  uploads?: number | null;
  sockets?: number | null;
}

export interface PageView {
  /** 1-based. */
  number: number;
  /** Offset in the document's text, in characters, like `end`. */
  start: number;
  end: number;
  state: "text" | "ocr" | "empty" | "unread" | "failed" | "lost";
}

/** The pages of a document, and what can be shown of them. */
export interface Pages {
  /** Pages of the file; 1 if its format has none. */
  count: number;
  /** None for a format without pages, such as a text or a single picture. */
  items: PageView[];
  /** Of the document's text. */
  characters: number;
  /** Whether there are pictures of the pages; else the code of what is missing. */
  images: "available" | "original_not_stored" | "no_page_images";
  /** Whether all of its text was recognised in pictures. */
  isOcr: boolean;
}

/** Two words that follow each other in the query and in the hit. */
export interface PairMatch {
  words: string[];
  times: number;
  bm25: number;
}

export interface PausedType {
  type: string;
  /** False: disabled, not only paused. */
  isEnabled: boolean;
}

export interface Place {
  chunkId: string;
  ordinal: number;
  /** Left, top, right, bottom as shares of the page, from its upper left corner; about one for each line. None if the chunk was not found on the page. */
  boxes: ([number, number, number, number])[];
}

/** Where chunks stand on a page. */
export interface Places {
  page: number;
  /** Points of a PDF, pixels of an image, like `height`; of the page as it is shown. */
  width: number;
  height: number;
  /** What tells the places. `none`: the page has no text layer and its words were not kept; upload the file again to have them recognised with their places. */
  source: "text_layer" | "ocr" | "none";
  places: Place[];
  /** Whether the page has more chunks. */
  isTruncated: boolean;
}

export interface PreviewAnswer {
  mediaType: string;
  title: string | null;
  extractor: string;
  encoding: Encoding | null;
  coverage: Coverage;
  warnings: string[];
  metadata: Record<string, unknown>;
  /** Markdown, the first 200,000 characters. */
  text: string;
  textLength: number;
  chunkCount: number;
  tokenCount: number;
  /** The first 200. */
  chunks: PreviewChunk[];
  /** Whether `text` or `chunks` is only the beginning. */
  isTruncated: boolean;
  attachments: Attachment[];
}

export interface PreviewChunk {
  ordinal: number;
  content: string;
  tokenCount: number;
  /** Above the start of the chunk, outermost first. */
  headings: string[];
  /** The same for every section that the chunk contains, in reading order. */
  sections: string[][];
  page: number | null;
  pageEnd: number | null;
  /** Offset in the text, in characters, like `end`. */
  start: number;
  end: number;
}

/** RFC 9457; some problems have further members. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** Stable name of the error. */
  code: string;
}

export interface ProgressView {
  total: number;
  completed: number;
  failed: number;
  processing: number;
  pending: number;
  cancelled: number;
  reviewNeeded: number;
  percent: number | null;
  etaSeconds: number | null;
  status: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed";
  seq: number | null;
}

/** Why the embedding provider fails; meanwhile searches use keywords only, and files wait. */
export interface ProviderFailure {
  code: string;
  httpStatus: number | null;
  message: string;
  since: string;
}

export interface ProviderPauseRequest {
  /** `provider/model`; digests of the key and the address may follow, as in `limits`. */
  name: string;
  /** Who pauses it and why, for others who share the operator key. */
  note?: string | null;
}

export interface ProviderView {
  /** `provider/model`. */
  name: string;
  /** What this process asks it for; null: it was used earlier, or by others. */
  use: "embedding" | "rerank" | null;
  /** When the operator paused it; null: not paused by the operator. */
  pausedSince: string | null;
  /** Who paused it and why. */
  note: string | null;
  /** By the operator. */
  isPaused: boolean;
}

export interface Providers {
  items: ProviderView[];
}

export interface QuestionView {
  query: string;
  filter: Record<string, unknown> | null;
  judgementCount: number;
  /** Judgements with a grade above 0. */
  relevantCount: number;
  judgedAt: string;
}

export interface Queued {
  deliveryId: string;
}

export interface QuotaView {
  used: number;
  limit: number;
}

export interface ReadAgain {
  knowledgeSourceId: string;
  jobId: string;
}

/** The query as the search by words reads it. */
export interface ReadQuery {
  words: string[];
  /** Every hit has one of each group. */
  phrases: string[][];
  excluded: string[];
}

export interface Readiness {
  database: boolean;
  pendingMigrations?: number;
  /** False while notifications do not arrive: polling then delivers all progress, but later. */
  listener: boolean;
  /** Why not: no connection; one through a pooler in transaction mode, which delivers none (set INGEST_LISTEN_URL); or `not_delivered`: INGEST_LISTEN_URL may name another database. */
  listenerProblem?: "not_connected" | "transaction_pooler" | "not_delivered" | null;
  /** Workers with a live heartbeat, in all processes. */
  workers?: number | null;
  /** Since any worker was alive; null if none ever was. */
  workerSilentSeconds?: number | null;
  /** A job is ready and no worker is alive, both for at least INGEST_WORKER_SILENCE. */
  jobsUnattended?: boolean;
  /** Null: this process has none. */
  workerProcesses?: WorkerProcessesCheck | null;
  /** An operator has paused the workers: see `ingest resume`, PUT /api/worker/config. */
  paused?: boolean;
  /** Null while the embedding provider responds, or if it runs in this process. */
  provider?: ProviderFailure | null;
  /** Disks with less free space than INGEST_DISK_RESERVE, so that uploads are refused: `files`, `database`. */
  lowDisks?: string[];
  /** Whether the heartbeat of this worker process is live. Null in other processes. */
  heartbeat?: boolean | null;
  /** Modules that this process did not find when it started. */
  missingParsers?: MissingParser[];
  sandbox?: Sandbox | null;
  /** `degraded`: requests are served, but without listener, workers, provider or some parsers, or without room for uploads. */
  status: "ready" | "degraded";
}

export interface Received {
  received: boolean;
}

export interface Refusal {
  code: string;
  message: string;
}

export interface Refused {
  reason: string;
  count: number;
}

export interface RefusedUpload {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** Stable name of the error. */
  code: string;
  /** The first 20 errors; empty if the error concerns no single field. */
  errors: FieldError[];
  /** With the code `nothing_accepted`: why each file was refused. */
  files?: UploadedFileAnswer[] | null;
}

export interface Report {
  id: string;
  applicationId: string;
  createdAt: string;
  updatedAt: string;
  /** When the last of its sources ended; null while one is open. */
  completedAt: string | null;
  total: number;
  accepted: number;
  unchanged: number;
  duplicate: number;
  rejected: number;
  completed: number;
  partial: number;
  failed: number;
  cancelled: number;
  processing: number;
  pending: number;
  reviewNeeded: number;
  /** Of the cancelled: their sources were deleted. */
  deleted: number;
  files: ReportedFile[];
}

/** One file of the report, with the state of its source. */
export interface ReportedFile {
  path: string;
  sizeBytes: number;
  verdict: "accepted" | "unchanged" | "duplicate" | "rejected";
  knowledgeSourceId: string | null;
  jobId: string | null;
  /** Null for a rejected file. */
  status: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed" | null;
  code: string | null;
  detail: string | null;
  chunkCount: number | null;
}

export interface Requested {
  jobIds: string[];
}

export interface RescrapeAccepted {
  knowledgeSourceId: string;
  jobId: string;
  crawlId: string;
}

export interface RescrapeRequest {
  /** Accept the current content, even of pages that lost most of their text. */
  acceptLosses?: boolean;
}

export interface Resumed {
  /** The lanes that were paused. */
  lanes: string[];
  /** Number of jobs that were resumed. */
  jobCount: number;
}

export interface Retried {
  jobCount: number;
}

export interface RetriedSource {
  knowledgeSourceId: string;
  jobIds: string[];
}

/** What confines the parser processes of this process (INGEST_SANDBOX). */
export interface Sandbox {
  mode: "auto" | "strict" | "off";
  /** The kernel's ABI version; null: not applied. */
  landlock: number | null;
  /** Why not, as the system says it. */
  landlockProblem?: string | null;
  seccomp: boolean;
}

/** A cron expression in the local time of a zone. */
export interface Schedule {
  cron: string;
  timezone?: string;
}

export interface ScheduleView {
  cron: string;
  timezone: string;
}

/** A page or site with a schedule of its own. */
export interface ScheduledSource {
  id: string;
  type: string;
  name: string;
  uri: string;
  status: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed";
  errorCode: string | null;
  rescrape: ScheduleView;
  nextRescrapeAt: string;
  /** The latest run, also one that was started by hand. */
  lastRun: LastRun | null;
}

export interface SearchExplanation {
  searchedBy: ("vectors" | "words")[];
  milliseconds: Milliseconds;
  embeddingModel: ExplainedModel | null;
  /** Null: not a hybrid search. */
  weights: EffectiveWeights | null;
  /** Null: not searched by words. */
  query: ReadQuery | null;
  statistics: Statistics | null;
  /** Documents that pass the filter; null: no filter, or so many that candidates are checked. */
  passingDocuments: number | null;
  /** Chunks that were ranked; the others of the application were too far away. */
  foundByVectors: number;
  foundByWords: number;
  /** Chunks left out by `minScore`. */
  belowMinScore: number;
  /** Chunks left out because they say the same as a better one. */
  collapsed: number;
  /** Chunks left out by `perDocument`. */
  beyondPerDocument: number;
  /** Chunks that the reranker orders; null: not asked. */
  rerankCandidates: number | null;
  /** In the order of the hits. */
  hits: HitExplanation[];
}

/** What a hit must be; all members must hold. */
export interface SearchFilter {
  knowledgeSourceIds?: string[] | null;
  /** Only sources in one of these collections. */
  collectionIds?: string[] | null;
  /** Only sources whose metadata contain this object, as it is. */
  metadata?: Record<string, unknown> | null;
  /** Conditions on fields of documents and sources, see docs/api.md. */
  where?: Record<string, unknown> | null;
}

export interface SearchHit {
  chunkId: string;
  knowledgeSourceId: string;
  documentId: string;
  title: string;
  /** Path, path inside the uploaded file, or URL. */
  uri: string;
  mediaType: string;
  /** Of the source, as it was given with the upload. */
  metadata: Record<string, unknown>;
  /** What the document says about itself: author, date, front matter … */
  documentMetadata: Record<string, unknown>;
  /** The date that the document states, in its own words. */
  publishedAt: string | null;
  /** When the source was added. */
  createdAt: string;
  /** When the document was processed last. */
  updatedAt: string;
  /** Place in the document, from 0. */
  ordinal: number;
  page: number | null;
  pageEnd: number | null;
  /** Place in the text of the document, in characters, like `charEnd`. */
  charStart: number;
  charEnd: number;
  /** Above the start of the chunk, outermost first. */
  headings: string[];
  /** The same for every section that the chunk contains, in reading order. */
  sections: string[][];
  content: string;
  /** What the hits are ordered by, see the endpoint. */
  score: number;
  /** Cosine similarity to the query; null if the vectors did not find the chunk. */
  cosine: number | null;
  /** Keyword score, above 0; null if the words did not find the chunk. */
  bm25: number | null;
  /** As the reranker gave it. */
  rerankScore: number | null;
  /** Place among the chunks found by vectors, from 1. */
  vectorRank: number | null;
  keywordRank: number | null;
  /** Headings above the part that matches best, outermost first; one of `sections`. */
  section: string[];
  /** Words of the query that the chunk contains, in some form. */
  matchedTerms: string[];
  /** Chunks with (nearly) the same text that were left out. */
  duplicateCount: number;
  /** These chunks, at most 100. */
  duplicates: Duplicate[];
}

export interface SearchHits {
  hits: SearchHit[];
  /** What the search lacked: `vector`, a hybrid search while the embedding provider does not respond; `earlierModel`, if documents are searched by a model that is not configured any more: words find them, and `POST /api/reembed` makes new vectors. */
  degraded?: ("vector" | "earlierModel")[];
  /** The error code and the provider's message. */
  degradedReason?: string | null;
  /** False: the reranker failed, and the hits are as ranked without it; null: it was not asked. */
  reranked?: boolean | null;
  /** Why not: the error code and a message. */
  rerankReason?: string | null;
  /** If asked for with `explain`. */
  explanation?: SearchExplanation | null;
}

export interface SearchRequest {
  mode?: "hybrid" | "vector" | "keyword";
  minScore?: LeastScores;
  /** Whether chunks that say the same about the query become one hit with `duplicates`. */
  collapse?: boolean;
  /** Most hits of one document. */
  perDocument?: number | null;
  /** Above 0: prefer hits unlike those before them (maximal marginal relevance). */
  diversity?: number;
  weights?: SearchWeights;
  /** Whether a configured reranker ranks the best candidates again. */
  rerank?: boolean;
  query: string;
  limit?: number;
  filter?: SearchFilter;
  /** Whether the answer says why each hit is where it is, and how long each step took. */
  explain?: boolean;
}

/** How to search. */
export interface SearchSettings {
  mode?: "hybrid" | "vector" | "keyword";
  minScore?: LeastScores;
  /** Whether chunks that say the same about the query become one hit with `duplicates`. */
  collapse?: boolean;
  /** Most hits of one document. */
  perDocument?: number | null;
  /** Above 0: prefer hits unlike those before them (maximal marginal relevance). */
  diversity?: number;
  weights?: SearchWeights;
  /** Whether a configured reranker ranks the best candidates again. */
  rerank?: boolean;
}

/** How much each half counts in `hybrid`, relative to the other. */
export interface SearchWeights {
  vector?: number;
  keyword?: number;
}

export interface Section {
  chunkId: string;
  documentId: string;
  knowledgeSourceId: string;
  title: string;
  uri: string;
  /** Above the chunk, outermost first. */
  headings: string[];
  /** Offset of `content` in the text of the document, in characters, like `end`. */
  start: number;
  end: number;
  /** Markdown; if the section has more characters than asked for, those around the chunk. */
  content: string;
  isTruncated: boolean;
}

export interface SettingView {
  /** Of the environment variable. */
  name: string;
  /** As the variable is written. Null: a secret, or not set and without a default. Addresses are shown without user, password and query. */
  value: string | null;
  /** False: `value` is the default. */
  isSet: boolean;
  isSecret: boolean;
}

export interface SettingsPatch {
  /** The application's share of the workers, relative to other applications. */
  weight?: number;
  /** Tokens for embedding providers in a UTC day; null: no budget. */
  tokensPerDay?: number | null;
  /** Changes that need a review by a person. */
  reviews?: ("low_coverage" | "mass_deletion" | "flagged_content")[];
  /** Replaced as a whole; stored documents are chunked again, without reading files. */
  chunking?: Chunking | null;
  /** Replaced as a whole. What exceeds a lower quota stays; `GET /api/usage` shows the result. */
  quotas?: OwnQuotas;
}

/** Exactly one of both. */
export interface SignIn {
  /** An API key, or the operator key. */
  key?: string | null;
  /** Of a link of `ingest serve` or `ingest key link`: once, within ten minutes. */
  code?: string | null;
}

export interface SignInCode {
  code: string;
  expiresAt: string;
}

export interface Source {
  id: string;
  applicationId: string;
  /** The batch that last added or updated it. */
  batchId: string | null;
  type: string;
  name: string;
  uri: string;
  status: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed";
  errorCode: string | null;
  errorMessage: string | null;
  /** Null unless the source is open and waits for something other than a free worker. */
  waiting: Waiting | null;
  metadata: Record<string, unknown>;
  coverage: Coverage | null;
  chunkCount: number;
  tokenCount: number;
  /** Size of the searchable version; counts and hash refer to it too. */
  sizeBytes: number | null;
  /** SHA-256, hexadecimal. */
  contentHash: string | null;
  duplicateOf: string | null;
  /** The job of the current run. */
  jobId: string | null;
  crawl: CrawlView | null;
  /** The source's own schedule; null: fetched again every night. */
  rescrape: ScheduleView | null;
  /** Null: with the next nightly rescrape; files are never rescraped. */
  nextRescrapeAt: string | null;
  /** The source's own settings. */
  chunking: ChunkingView;
  eventSeq: number;
  createdAt: string;
  updatedAt: string;
  /** The collections that it is in, of those that the key may see. */
  collectionIds: string[];
  /** The settings in use: where `chunking` is null, the application's, or the service's. */
  effectiveChunking: EffectiveChunking;
}

/** One of `filter` and `ids`, an action, and the field that the action needs. */
export interface SourceBulk {
  /** Instead of a filter: these, those that do not exist are ignored. */
  ids?: string[] | null;
  /** Only count. */
  dryRun?: boolean;
  action: "delete" | "cancel" | "retry" | "fetch_again" | "read_again" | "set_metadata" | "add_to_collection" | "remove_from_collection" | "set_chunking" | "set_schedule";
  filter?: SourceSelection | null;
  /** For `set_metadata`: keys to add or replace; null removes a key. Other keys stay. */
  metadata?: Record<string, unknown> | null;
  /** For `add_to_collection` and `remove_from_collection`. */
  collectionId?: string | null;
  /** For `set_chunking`, replaced as a whole; null: the application's. */
  chunking?: Chunking | null;
  /** For `set_schedule`; null: nightly. */
  schedule?: Schedule | null;
}

/** Fields that are left out stay unchanged; `metadata` is replaced as a whole. */
export interface SourcePatch {
  name?: string | null;
  metadata?: Record<string, unknown> | null;
  /** When a page or site is fetched again; null: nightly, like all other sources. */
  rescrape?: Schedule | null;
  /** Replaced as a whole; stored text is chunked again, without reading files or pages. */
  chunking?: Chunking | null;
}

/** The conditions of the list; an empty object selects everything. */
export interface SourceSelection {
  status?: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed" | null;
  type?: "file" | "url" | "site" | null;
  batchId?: string | null;
  /** The exact path or URL */
  uri?: string | null;
  collectionId?: string | null;
  errorCode?: string | null;
  /** In the name, or the path or URL. In any case. A request reads the newest 100,000 sources, or 10,000 jobs, that the other conditions leave: a page may have few items, even none, and a `nextCursor` that reads on */
  q?: string | null;
  /** Created then or later */
  since?: string | null;
  /** Changed then or later */
  updatedSince?: string | null;
  /** Contained in the metadata of the source. */
  metadata?: Record<string, unknown> | null;
}

/** What word weights come from; null for keys that are limited to collections. */
export interface Statistics {
  /** Of the application; an estimate if `sampled` is less. */
  chunks: number;
  sampled: number;
  /** Mean words of a chunk's text. */
  usualLength: number;
  /** Of the documents, ISO 639-1: the query is read in each. */
  languages: string[];
  /** Whether words are also found by runs of four letters, as in all languages but English. */
  hasGrams: boolean;
}

export interface StatusCount {
  status: string;
  /** At most 10,000. */
  count: number;
  /** False: there are at least so many. */
  isExact: boolean;
}

export interface StatusCounts {
  /** One for each state, also if there is none. */
  items: StatusCount[];
}

export interface StorageView {
  kind: "folder" | "bucket";
  location: string;
  /** Files and texts of all applications, and files that wait or have failed. */
  usedBytes: number;
  /** On the disk of the folder; null for a bucket. */
  freeBytes: number | null;
  /** With less free space, uploads are refused (INGEST_DISK_RESERVE). */
  reserveBytes: number;
}

export interface Ticket {
  ticket: string;
  expiresAt: string;
}

export interface Ticks {
  items: LastFiring[];
}

export interface TokensView {
  /** Tokens that were embedded today (UTC), including reserved ones. */
  used: number;
  /** The same since the first day of the month (UTC). */
  usedThisMonth: number;
  /** The application's budget; null: no limit. */
  perDay: number | null;
  renewsAt: string;
}

export interface Triggered {
  triggered: boolean;
}

export interface TypeCounts {
  items: JobsOfType[];
}

export interface UploadAnswer {
  batchId: string;
  jobCount: number;
  knowledgeSourceIds: string[];
  files: UploadedFileAnswer[];
}

export interface UploadCheck {
  files: FileDigest[];
  metadata?: Record<string, unknown> | null;
  onConflict?: "update" | "skip";
  collectionId?: string | null;
}

export interface UploadCheckAnswer {
  known: KnownFile[];
}

export interface UploadedFileAnswer {
  path: string;
  verdict: "accepted" | "unchanged" | "duplicate" | "rejected";
  knowledgeSourceId?: string | null;
  jobId?: string | null;
  duplicateOf?: string | null;
  code?: string | null;
  detail?: string | null;
}

export interface UrlAccepted {
  knowledgeSourceId: string;
  jobId: string;
  crawlId: string;
}

export interface UrlRequest {
  url: string;
  crawlLinks?: boolean;
  /** Maximum number of pages; 1,000 by default. */
  limit?: number | null;
  /** Maximum number of links from the start; unlimited by default. */
  maxDepth?: number | null;
  /** RE2 expressions; at least one must be found in the path of a page (with its query). */
  includePaths?: string[];
  excludePaths?: string[];
  provider?: "builtin" | "firecrawl" | null;
  /** When to fetch it again; null: nightly, like all other sources. Left out: unchanged. */
  rescrape?: Schedule | null;
  metadata?: Record<string, unknown> | null;
  /** The collection that the source joins. */
  collectionId?: string | null;
  /** Chunk settings. null: use the application's; omitted: keep the current ones. */
  chunking?: Chunking | null;
}

export interface UsageView {
  /** Files of knowledge sources, and the text of their documents. */
  storedBytes: QuotaView;
  /** Files that wait, are being processed, have failed, or wait for a review. */
  stagedBytes: QuotaView;
  sources: QuotaView;
  /** Jobs that wait or run. */
  pendingJobs: QuotaView;
  /** At once, in the process that answers; so are `sockets`. */
  uploads: QuotaView;
  sockets: QuotaView;
  tokens: TokensView;
  /** Of its files today (UTC), in parsers and a local embedder. It has no limit. */
  cpuSeconds: number;
}

/** What the source waits for. */
export interface Waiting {
  /** As `waitReason` of the job. */
  reason: string;
  /** The job that waits: the current one, or one for a file inside or a page. */
  jobId: string;
  code: string | null;
  /** What went wrong, such as the embedding provider's refusal. */
  message: string | null;
  /** When it goes on by itself; null: when a pause or a limit of the job's type ends. */
  until: string | null;
}

/** Jobs that cannot start now. */
export interface WaitingView {
  count: number;
  /** There are more than `count`. */
  isMore: boolean;
  /** `paused`, `max_concurrent`, `rate_limited`, `retry`, `scheduled`, `budget_exceeded`, or another reason of a handler, such as `pages`: it waits for its pages. */
  reason: string;
}

/** An endpoint, without its secrets. */
export interface WebhookEndpoint {
  id: string;
  url: string;
  events: ("source.completed" | "source.partial" | "source.failed" | "source.review_needed" | "batch.completed" | "rescrape.completed" | "job.failed")[];
  description: string;
  isEnabled: boolean;
  disabledReason: string | null;
  failingSince: string | null;
  /** Consecutive failed attempts. */
  failures: number;
  previousSecretUntil: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface WithSecret {
  id: string;
  url: string;
  events: ("source.completed" | "source.partial" | "source.failed" | "source.review_needed" | "batch.completed" | "rescrape.completed" | "job.failed")[];
  description: string;
  isEnabled: boolean;
  disabledReason: string | null;
  failingSince: string | null;
  /** Consecutive failed attempts. */
  failures: number;
  previousSecretUntil: string | null;
  createdAt: string;
  updatedAt: string;
  /** Shown only once. Null for an e-mail address: e-mail is not signed. */
  secret: string | null;
}

/** A word of the query in a hit. */
export interface WordMatch {
  word: string;
  /** Its weight: the fewer chunks have it, the greater. Null for keys that are limited to collections, as `chunks`: it tells of documents that they may not see. */
  weight: number | null;
  /** Chunks of the application with it, in any form; an estimate above 1,500 chunks. */
  chunks: number | null;
  /** Occurrences in title and path. */
  title: number;
  headings: number;
  body: number;
  /** Occurrences as a part or another spelling: `id` in `getUserById`, `Pruefung`. */
  otherSpellings: number;
  /** What the word itself adds to the score. */
  bm25: number;
  /** What runs of four letters add, by which compounds and inflections are found. */
  bm25ByGrams: number;
  /** Those in the hit, if the word itself is not. */
  grams: string[];
}

export interface WorkerConfig {
  paused: boolean;
  limits: Record<string, LaneLimitsView>;
}

/** Fields that are left out stay unchanged; `limits` are replaced as a whole. */
export interface WorkerConfigPut {
  paused?: boolean;
  limits?: Record<string, unknown>;
}

/** The worker processes of `ingest serve` (INGEST_WORKER_PROCESSES). */
export interface WorkerProcessesCheck {
  configured: number;
  /** Those that are ready to work; the others start, or wait until they are started again. */
  running: number;
  /** How many have ended and were started again. */
  restarts: number;
}

export interface WorkerView {
  id: string;
  /** Only for the operator, as is `pid`. */
  host: string | null;
  pid: number | null;
  startedAt: string;
  heartbeatAt: string;
  /** Since its last heartbeat. */
  silentSeconds: number;
  /** False: silent for INGEST_STALE_AFTER, so that its jobs go back to the queue. */
  isAlive: boolean;
  /** It is stopping: it runs its jobs to the end and starts no others. */
  isDraining: boolean;
  /** Jobs that it runs, of all applications. */
  running: number;
  /** Jobs that it runs at once, apart from the reserve; null: a worker of an earlier version. */
  slots: number | null;
}

/** Workers of the installation, by their heartbeats. */
export interface WorkersView {
  alive: number;
  draining: number;
  /** Since a worker was last alive; null: none ever was. */
  silentSeconds: number | null;
}

export interface Operations {
  /** The application's ended attempts over time: by default, those of the last hour.
   *
   * Workers write what they have done every ten seconds. Minutes of more than two days ago are
   * merged into hours, and count for the step in which their hour begins. What is not in it:
   * attempts of workers that died, and what such a worker had not written yet. */
  "GET /api/activity": {
    path: {};
    query: { from?: string | null; to?: string | null; step?: number | null };
    body: undefined;
    answer: ActivityView;
  };
  /** All tenants, newest first. */
  "GET /api/applications": {
    path: {};
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Application>;
  };
  /** Create a tenant. */
  "POST /api/applications": {
    path: {};
    query: {};
    body: NewApplication;
    answer: Application;
  };
  /** A tenant and all its settings, including defaults. */
  "GET /api/applications/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Application;
  };
  /** Rename a tenant or change settings.
   *
   * `weight`, `tokensPerDay` and `quotas` need the operator key. */
  "PATCH /api/applications/{id}": {
    path: { id: string };
    query: {};
    body: ApplicationPatch;
    answer: Application;
  };
  /** The keys of an application, newest first, including revoked ones. */
  "GET /api/applications/{id}/keys": {
    path: { id: string };
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<ApiKey>;
  };
  /** Create a key. Only this response and its idempotent replays contain the plaintext key. */
  "POST /api/applications/{id}/keys": {
    path: { id: string };
    query: {};
    body: NewKey;
    answer: CreatedKey;
  };
  /** Revoke a key. The next request with the key is refused. */
  "DELETE /api/applications/{id}/keys/{keyId}": {
    path: { id: string; keyId: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Upload batches, newest first. */
  "GET /api/batches": {
    path: {};
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<ListedBatch>;
  };
  /** The current counts of the batch. */
  "GET /api/batches/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Batch;
  };
  /** Cancel every open job of the batch. */
  "POST /api/batches/{id}/cancel": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Changed;
  };
  /** One row per file of the batch, including rejected files.
   *
   * CSV is read in parts, each at a later time. If a part cannot be read, the body ends early. */
  "GET /api/batches/{id}/report": {
    path: { id: string };
    query: { format?: "json" | "csv" };
    body: undefined;
    answer: Response;
  };
  /** Retry every failed job of the batch, unless a newer upload replaced it. */
  "POST /api/batches/{id}/retry-failed": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Changed;
  };
  /** A chunk with what its document and source say, as in a search hit. */
  "GET /api/chunks/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: ChunkView;
  };
  /** The section of the document that contains the chunk, up to the next heading.
   *
   * `neighbours`: instead, the chunk with so many chunks before and after it, of whatever section.
   * `size`: at most so many characters, with the chunk in the middle. */
  "GET /api/chunks/{id}/section": {
    path: { id: string };
    query: { size?: number; neighbours?: number | null };
    body: undefined;
    answer: Section;
  };
  /** The collections that the key may see, newest first. */
  "GET /api/collections": {
    path: {};
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Collection>;
  };
  /** Create an empty collection. */
  "POST /api/collections": {
    path: {};
    query: {};
    body: NewCollection;
    answer: Collection;
  };
  /** Delete a collection. Its sources stay; keys that may see no other collection see nothing. */
  "DELETE /api/collections/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** One collection; `GET /api/knowledge-sources?collectionId=` lists its sources. */
  "GET /api/collections/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Collection;
  };
  /** Rename or describe a collection, or replace its metadata. */
  "PATCH /api/collections/{id}": {
    path: { id: string };
    query: {};
    body: CollectionPatch;
    answer: Collection;
  };
  /** Add sources to a collection and remove others, all or none. Repeating it is harmless. */
  "POST /api/collections/{id}/knowledge-sources": {
    path: { id: string };
    query: {};
    body: MembersChange;
    answer: Collection;
  };
  /** One document: its type, its extractor and its coverage. */
  "GET /api/documents/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Document;
  };
  /** The chunks of a document in reading order.
   *
   * `start`, `end`: only those that have characters of this part of the text, such as a page's. */
  "GET /api/documents/{id}/chunks": {
    path: { id: string };
    query: { start?: number | null; end?: number | null; limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Chunk>;
  };
  /** Menus, footers and other blocks that repeat on a site's pages and were left out of this one.
   *
   * The first 200, in the order of the page; none if `leaveOutFurniture` is off. */
  "GET /api/documents/{id}/left-out": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: LeftOutBlocks;
  };
  /** The stored bytes of the file, as a download; `Range` asks for a part of them.
   *
   * Web pages have none (404, code `original_not_stored`), nor have files inside archives and
   * messages whose jobs were deleted by retention. */
  "GET /api/documents/{id}/original": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Response;
  };
  /** The pages of a document: their ranges of its text, and how each was read. */
  "GET /api/documents/{id}/pages": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Pages;
  };
  /** A picture of a page of a PDF or an image file.
   *
   * `width`: at least so many pixels, if the page is not too large for that. Codes of 404:
   * `no_page_images` (of other formats), `no_such_page`, `original_not_stored`; 422 if the page
   * cannot be drawn. */
  "GET /api/documents/{id}/pages/{page}.png": {
    path: { id: string; page: number };
    query: { width?: number };
    body: undefined;
    answer: Response;
  };
  /** Where the chunks of a page stand on it, or only the chunk `chunkId`.
   *
   * A chunk that continues on the next page has places on both. Codes as for the page's picture. */
  "GET /api/documents/{id}/pages/{page}/places": {
    path: { id: string; page: number };
    query: { chunkId?: string | null };
    body: undefined;
    answer: Places;
  };
  /** The extracted text of a document, as Markdown.
   *
   * `start`, `end`: only the characters from the first offset to before the second, as those of a
   * page or a chunk. */
  "GET /api/documents/{id}/text": {
    path: { id: string };
    query: { start?: number | null; end?: number | null };
    body: undefined;
    answer: Response;
  };
  /** The settings of each job type, by name. */
  "GET /api/job-types": {
    path: {};
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<JobType>;
  };
  /** Register a job type. Workers that have its handler run the jobs from POST /api/jobs. */
  "POST /api/job-types": {
    path: {};
    query: {};
    body: NewJobType;
    answer: JobType;
  };
  /** How many jobs of each type are ready, run and failed, over all applications.
   *
   * Counts stop at 10,001, which means "more than 10,000". */
  "GET /api/job-types/counts": {
    path: {};
    query: {};
    body: undefined;
    answer: TypeCounts;
  };
  /** Delete a registered type that has no stored jobs. */
  "DELETE /api/job-types/{type}": {
    path: { type: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Pause, disable or tune a job type. Applies to all jobs that start after the response. */
  "PATCH /api/job-types/{type}": {
    path: { type: string };
    query: {};
    body: JobTypePatch;
    answer: JobType;
  };
  /** Jobs, newest first. */
  "GET /api/jobs": {
    path: {};
    query: { status?: "pending" | "processing" | "completed" | "failed" | "cancelled" | "review_needed" | null; type?: string | null; knowledgeSourceId?: string | null; batchId?: string | null; parentJobId?: string | null; errorCode?: string | null; collectionId?: string | null; q?: string | null; since?: string | null; metadata?: string[]; limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Job>;
  };
  /** Queue a job of a registered type.
   *
   * A request with the same `idempotencyKey` returns the same job. So does a request for the same
   * work on the same knowledge source, while that job waits for its first attempt. */
  "POST /api/jobs": {
    path: {};
    query: {};
    body: NewJob;
    answer: Job;
  };
  /** Retry, cancel or delete all jobs of a filter, in the background.
   *
   * Jobs that match later are left alone, as are those that no longer match when their turn comes,
   * and jobs of the type `bulk`. */
  "POST /api/jobs/bulk": {
    path: {};
    query: {};
    body: JobBulk;
    answer: BulkPlan | BulkStarted;
  };
  /** Count open jobs by stage or wait reason.
   *
   * Jobs that wait for their pages, or for the files in their file, are not counted. A `waitReason`
   * of null means a free worker. `until` is when the first of the waiting jobs may continue. */
  "GET /api/jobs/counts": {
    path: {};
    query: { knowledgeSourceId?: string | null; batchId?: string | null };
    body: undefined;
    answer: JobCounts;
  };
  /** The jobs of a filter as CSV, newest first, at most 100,000.
   *
   * They are read in parts, each at a later time. If one cannot be read, the body ends early. */
  "GET /api/jobs/export": {
    path: {};
    query: { status?: "pending" | "processing" | "completed" | "failed" | "cancelled" | "review_needed" | null; type?: string | null; knowledgeSourceId?: string | null; batchId?: string | null; parentJobId?: string | null; errorCode?: string | null; collectionId?: string | null; q?: string | null; since?: string | null; metadata?: string[] };
    body: undefined;
    answer: Response;
  };
  /** Queue failed jobs again, unless a newer run of their knowledge source replaced them. */
  "POST /api/jobs/retry-failed": {
    path: {};
    query: {};
    body: FailedJobs;
    answer: Retried;
  };
  /** Wake the workers now, not at their next tick. */
  "POST /api/jobs/trigger": {
    path: {};
    query: {};
    body: undefined;
    answer: Triggered;
  };
  /** Delete a finished job and its log. Its knowledge source stays. */
  "DELETE /api/jobs/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** One job with the last 200 lines of its log. */
  "GET /api/jobs/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: JobWithLogs;
  };
  /** Approve the step that needs a review, such as the removal of pages. */
  "POST /api/jobs/{id}/approve": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Job;
  };
  /** Cancel a waiting or running job permanently. A running job writes nothing more. */
  "POST /api/jobs/{id}/cancel": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Job;
  };
  /** The whole log of a job, oldest line first. */
  "GET /api/jobs/{id}/logs": {
    path: { id: string };
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<JobLog>;
  };
  /** End a job without the step that needs a review. Everything before that step stays. */
  "POST /api/jobs/{id}/reject": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Job;
  };
  /** Retry a job that failed, was cancelled or needs a review; its attempts start at zero.
   *
   * A job that waits for a time, such as the end of a provider's pause, starts at once. */
  "POST /api/jobs/{id}/retry": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Job;
  };
  /** The sets that have judgements, by name. */
  "GET /api/judgement-sets": {
    path: {};
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<JudgementSet>;
  };
  /** Delete all judgements of a set. */
  "DELETE /api/judgement-sets/{name}": {
    path: { name: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Ask the questions of a set in up to three ways, and measure what is found.
   *
   * As `ingest eval`, for at most 30 seconds. What nobody judged counts as no answer. */
  "POST /api/judgement-sets/{name}/evaluate": {
    path: { name: string };
    query: {};
    body: EvaluationRequest;
    answer: EvaluationView;
  };
  /** A set as files that `ingest eval` reads.
   *
   * `jsonl`: all judgements, with their words and filters. `qrels` (TREC) and `queries` (JSON lines
   * with `_id` and `text`): grades of documents by their ids, the best of each, without questions
   * that have a filter and documents that are gone. */
  "GET /api/judgement-sets/{name}/export": {
    path: { name: string };
    query: { format?: "qrels" | "queries" | "jsonl" };
    body: undefined;
    answer: Response;
  };
  /** The questions of a set, those judged last first. Another filter makes another question. */
  "GET /api/judgement-sets/{name}/questions": {
    path: { name: string };
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<QuestionView>;
  };
  /** Judgements, newest first; of one set, or of one query with whatever filter. */
  "GET /api/judgements": {
    path: {};
    query: { set?: string | null; query?: string | null; limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Judgement>;
  };
  /** Say how well a hit answers a query. A later judgement of the same words replaces it.
   *
   * It names the document by source and path, and the words that were judged, so it stays right when
   * the document is processed again, in chunks of any size. It is deleted with the source. */
  "PUT /api/judgements": {
    path: {};
    query: {};
    body: NewJudgement;
    answer: Judgement;
  };
  /** Take a judgement back. */
  "DELETE /api/judgements/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Progress of a source, counted in jobs.
   *
   * If `id` is the application's own id: progress of all its sources, counted in sources.
   * `percent` is null while the total is unknown; `seq` is null for an application. */
  "GET /api/knowledge-source/{id}/progress": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: ProgressView;
  };
  /** Knowledge sources, newest first, or as `sort` says. */
  "GET /api/knowledge-sources": {
    path: {};
    query: { status?: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed" | null; type?: "file" | "url" | "site" | null; batchId?: string | null; uri?: string | null; collectionId?: string | null; errorCode?: string | null; q?: string | null; since?: string | null; updatedSince?: string | null; metadata?: string[]; sort?: "createdAt" | "updatedAt" | "chunkCount" | "tokenCount" | "sizeBytes"; limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Source>;
  };
  /** Do something to all sources of a filter, in the background.
   *
   * Sources that match later are left alone, as are those that no longer match when their turn
   * comes. Cancel the job to stop it; what is done stays. */
  "POST /api/knowledge-sources/bulk": {
    path: {};
    query: {};
    body: SourceBulk;
    answer: BulkPlan | BulkStarted;
  };
  /** Sources of each state that fulfil the other conditions, counted up to 10,000.
   *
   * With `q` or `metadata`, the newest 20,000 sources of each state are read. */
  "GET /api/knowledge-sources/counts": {
    path: {};
    query: { status?: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed" | null; type?: "file" | "url" | "site" | null; batchId?: string | null; uri?: string | null; collectionId?: string | null; errorCode?: string | null; q?: string | null; since?: string | null; updatedSince?: string | null; metadata?: string[] };
    body: undefined;
    answer: StatusCounts;
  };
  /** The sources of a filter as CSV, newest first, at most 100,000.
   *
   * They are read in parts, each at a later time. If one cannot be read, the body ends early. */
  "GET /api/knowledge-sources/export": {
    path: {};
    query: { status?: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed" | null; type?: "file" | "url" | "site" | null; batchId?: string | null; uri?: string | null; collectionId?: string | null; errorCode?: string | null; q?: string | null; since?: string | null; updatedSince?: string | null; metadata?: string[] };
    body: undefined;
    answer: Response;
  };
  /** Delete a source in any state, permanently. Lists and searches omit it at once. */
  "DELETE /api/knowledge-sources/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** One knowledge source. */
  "GET /api/knowledge-sources/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Source;
  };
  /** Rename a source, replace its metadata, or change its chunk settings or fetch schedule. */
  "PATCH /api/knowledge-sources/{id}": {
    path: { id: string };
    query: {};
    body: SourcePatch;
    answer: Source;
  };
  /** Cancel the processing of a source. Content that is searchable stays searchable. */
  "POST /api/knowledge-sources/{id}/cancel": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Cancelled;
  };
  /** Jobs of the current run by state: of the files in a file, or the pages of a site.
   *
   * Counted up to 10,000. `GET /api/jobs?parentJobId=` with the source's `jobId` lists them; jobs
   * that retention has removed are not counted. */
  "GET /api/knowledge-sources/{id}/children": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: StatusCounts;
  };
  /** The searchable chunks of a source, in reading order. */
  "GET /api/knowledge-sources/{id}/chunks": {
    path: { id: string };
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Chunk>;
  };
  /** Runs of a page or site, newest first. */
  "GET /api/knowledge-sources/{id}/crawls": {
    path: { id: string };
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Crawl>;
  };
  /** The documents of a source: one for a file, one per page of a site. */
  "GET /api/knowledge-sources/{id}/documents": {
    path: { id: string };
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Document>;
  };
  /** The events of a source, in order; `seq` has no gaps. */
  "GET /api/knowledge-sources/{id}/events": {
    path: { id: string };
    query: { after?: number; limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Event>;
  };
  /** The outcome of each page in a run. */
  "GET /api/knowledge-sources/{id}/pages": {
    path: { id: string };
    query: { crawlId?: string | null; status?: "queued" | "over_limit" | "new" | "changed" | "unchanged" | "kept" | "duplicate" | "gone" | "skipped" | "failed" | "held" | "removed" | null; limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<CrawlPage>;
  };
  /** Read a source again although it has not changed: a file from its stored bytes, pages anew.
   *
   * For sources that a newer version of the service reads better, and for scans once text
   * recognition is on. What is stored stays searchable until then. */
  "POST /api/knowledge-sources/{id}/read-again": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: ReadAgain;
  };
  /** Fetch a page or site again now. If a run is open, that run continues. */
  "POST /api/knowledge-sources/{id}/rescrape": {
    path: { id: string };
    query: {};
    body: RescrapeRequest | null;
    answer: RescrapeAccepted;
  };
  /** Queue the failed or cancelled jobs of the current run again; their attempts start at zero.
   *
   * That is the run itself or, if it completed, the files in the file that failed. Pages that
   * failed in a completed crawl are fetched again by `rescrape`. */
  "POST /api/knowledge-sources/{id}/retry": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: RetriedSource;
  };
  /** Server-sent events of a source, until the source is done.
   *
   * First `snapshot`, then `progress`, `job`, `source` and `done`, with the messages of /api/ws as
   * data and their `seq` as id. `Last-Event-ID`, or `?after=`, resumes after that event. If the key
   * is revoked, the stream ends within 15 seconds. */
  "GET /api/knowledge-sources/{id}/stream": {
    path: { id: string };
    query: { after?: number | null };
    body: undefined;
    answer: Response;
  };
  /** The caller, its application and role, and the features of this installation. */
  "GET /api/me": {
    path: {};
    query: {};
    body: undefined;
    answer: Me;
  };
  /** What the application's jobs are doing, what holds them up, and what it uses.
   *
   * Costs the same with any number of jobs. */
  "GET /api/overview": {
    path: {};
    query: {};
    body: undefined;
    answer: OverviewView;
  };
  /** Extract and chunk a file as an upload would, without storing anything.
   *
   * A file that cannot be read is a 422 with the code that its upload would end with. */
  "POST /api/preview": {
    path: {};
    query: {};
    body: BodyInit;
    answer: PreviewAnswer;
  };
  /** How far the application's documents have come to the model of the settings. */
  "GET /api/reembed": {
    path: {};
    query: {};
    body: undefined;
    answer: ModelChange;
  };
  /** Embed documents of other models with the model of the settings, in the background.
   *
   * The earlier model is searched until the new vectors are complete. Asking again is harmless: a
   * waiting job is used, and a job without work ends at once. */
  "POST /api/reembed": {
    path: {};
    query: {};
    body: undefined;
    answer: Requested;
  };
  /** The same for every application that needs it; possibly none. */
  "POST /api/reembed/all": {
    path: {};
    query: {};
    body: undefined;
    answer: Requested;
  };
  /** Pages and sites with a schedule of their own, the next one first. */
  "GET /api/schedules": {
    path: {};
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<ScheduledSource>;
  };
  /** The next times of a schedule, before it is saved. */
  "GET /api/schedules/next": {
    path: {};
    query: { cron: string; timezone?: string };
    body: undefined;
    answer: NextTimes;
  };
  /** When sources without a schedule of their own are fetched again (INGEST_RESCRAPE). */
  "GET /api/schedules/nightly": {
    path: {};
    query: {};
    body: undefined;
    answer: Nightly;
  };
  /** The latest firing of each tick that one worker runs for all, within the last week. */
  "GET /api/schedules/ticks": {
    path: {};
    query: {};
    body: undefined;
    answer: Ticks;
  };
  /** The best chunks, best first.
   *
   * `score` is the cosine similarity (`vector`), BM25 (`keyword`), or 0 to 1 by both (`hybrid`); if
   * the hits were reranked, the score of the reranker. `cosine` and `bm25` are absolute.
   *
   * A search waits at most 5 seconds for the embedding provider. Without it, `hybrid` returns the
   * hits and scores of `keyword` with `"degraded": ["vector"]`; `vector` is answered with 503 and
   * the code of the cause. */
  "POST /api/search": {
    path: {};
    query: {};
    body: SearchRequest;
    answer: SearchHits;
  };
  /** End the session, and its sockets within 20 seconds. Without one, nothing happens. */
  "DELETE /api/session": {
    path: {};
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Start a session; the cookie of an earlier one no longer works.
   *
   * It ends after 12 hours without a request, after 7 days, by `DELETE`, or with its key. Requests
   * with the cookie come from a page of this origin; those that change something need the header
   * `X-Ingest-Csrf: 1`, and so does this one. */
  "POST /api/session": {
    path: {};
    query: {};
    body: SignIn;
    answer: Me;
  };
  /** Create a code for one sign-in to the dashboard as the operator, at `/#login=CODE`. */
  "POST /api/session/codes": {
    path: {};
    query: {};
    body: undefined;
    answer: SignInCode;
  };
  /** The effective settings of the process that answers, and what the installation runs on. */
  "GET /api/settings": {
    path: {};
    query: {};
    body: undefined;
    answer: InstallationView;
  };
  /** Create a ticket for `?ticket=`, valid for one connection within 60 seconds. */
  "POST /api/tickets": {
    path: {};
    query: {};
    body: undefined;
    answer: Ticket;
  };
  /** What the application uses and may use; the operator names it in `X-Application-Id`. */
  "GET /api/usage": {
    path: {};
    query: {};
    body: undefined;
    answer: UsageView;
  };
  /** The endpoints of the application, newest first. */
  "GET /api/webhook-endpoints": {
    path: {};
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<WebhookEndpoint>;
  };
  /** Send events to an address. Only this response contains the secret. */
  "POST /api/webhook-endpoints": {
    path: {};
    query: {};
    body: NewEndpoint;
    answer: WithSecret;
  };
  /** Delete an endpoint and its log. Waiting deliveries are not sent. */
  "DELETE /api/webhook-endpoints/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** An endpoint and its health. */
  "GET /api/webhook-endpoints/{id}": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: WebhookEndpoint;
  };
  /** Change an endpoint. `isEnabled: true` restarts one that was disabled because it failed. */
  "PATCH /api/webhook-endpoints/{id}": {
    path: { id: string };
    query: {};
    body: EndpointPatch;
    answer: WebhookEndpoint;
  };
  /** The deliveries of the endpoint, newest first. */
  "GET /api/webhook-endpoints/{id}/deliveries": {
    path: { id: string };
    query: { status?: "pending" | "delivered" | "failed" | null; limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Delivery>;
  };
  /** A delivery with its body, and the headers and the answer of its last attempt. */
  "GET /api/webhook-endpoints/{id}/deliveries/{deliveryId}": {
    path: { id: string; deliveryId: string };
    query: {};
    body: undefined;
    answer: DeliveryWithBody;
  };
  /** Send a delivery again, with the same id and body. A delivery that waits is sent now.
   *
   * If it succeeds, all waiting deliveries of the endpoint are sent too. */
  "POST /api/webhook-endpoints/{id}/deliveries/{deliveryId}/replay": {
    path: { id: string; deliveryId: string };
    query: {};
    body: undefined;
    answer: Delivery;
  };
  /** Sign with a new secret, and for 24 hours also with the old one. */
  "POST /api/webhook-endpoints/{id}/rotate-secret": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: WithSecret;
  };
  /** Send the event `endpoint.test` at once, even if the endpoint is failing. */
  "POST /api/webhook-endpoints/{id}/test": {
    path: { id: string };
    query: {};
    body: undefined;
    answer: Queued;
  };
  /** Accept an event of Firecrawl: any body with a valid `X-Firecrawl-Signature`.
   *
   * Sending the same body again changes nothing. */
  "POST /api/webhooks/firecrawl": {
    path: {};
    query: {};
    body: unknown;
    answer: Received;
  };
  /** Whether workers are paused, and their rate limits for providers. */
  "GET /api/worker/config": {
    path: {};
    query: {};
    body: undefined;
    answer: WorkerConfig;
  };
  /** Pause or resume all workers, and limit requests to providers.
   *
   * After a pause no job starts; running jobs finish. */
  "PUT /api/worker/config": {
    path: {};
    query: {};
    body: WorkerConfigPut;
    answer: WorkerConfig;
  };
  /** The desired number of workers of the installation; computed at most every 5 seconds. */
  "GET /api/worker/desired": {
    path: {};
    query: {};
    body: undefined;
    answer: Desired;
  };
  /** Providers that can be paused: in use, used earlier, or paused. By name, up to 100 lanes. */
  "GET /api/worker/provider": {
    path: {};
    query: {};
    body: undefined;
    answer: Providers;
  };
  /** End the operator's pause of a provider and resume the jobs that wait for it.
   *
   * Repeat it if the answer did not arrive. */
  "DELETE /api/worker/provider/pause": {
    path: {};
    query: { name: string };
    body: undefined;
    answer: Resumed;
  };
  /** Send a provider no requests until it is resumed; all other work goes on.
   *
   * Requests that were sent are answered. Jobs that need the provider wait with `waitReason`
   * `provider_paused`, without using up an attempt, and keep what they have embedded; searches rank
   * by words only, or without the reranker, and say so. Holds for all processes, also after a
   * restart or with another key. A provider that is paused keeps its time and note. */
  "POST /api/worker/provider/pause": {
    path: {};
    query: {};
    body: ProviderPauseRequest;
    answer: ProviderView;
  };
  /** End the pauses of all providers, except the operator's, and resume the jobs that wait.
   *
   * A provider that still fails pauses its lane again at the first request. No attempt is used up. */
  "POST /api/worker/provider/resume": {
    path: {};
    query: {};
    body: undefined;
    answer: Resumed;
  };
  /** Workers of the last day, newest first. All applications share them. */
  "GET /api/workers": {
    path: {};
    query: { limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<WorkerView>;
  };
  /** The process is alive. */
  "GET /healthz": {
    path: {};
    query: {};
    body: undefined;
    answer: Health;
  };
  /** Counters of this process and its worker processes, and gauges from the database if it
   * responds.
   *
   * Needs INGEST_METRICS_TOKEN as bearer token, if that is set. */
  "GET /metrics": {
    path: {};
    query: {};
    body: undefined;
    answer: Response;
  };
  /** Check that the database responds and has the schema that this version needs. */
  "GET /readyz": {
    path: {};
    query: {};
    body: undefined;
    answer: Readiness;
  };
  /** List the files that are already stored and need not be sent. */
  "POST /upload/check": {
    path: {};
    query: {};
    body: UploadCheck;
    answer: UploadCheckAnswer;
  };
  /** Store files and queue a job for each new file; 202 once all accepted files are durable. */
  "POST /upload/documents": {
    path: {};
    query: {};
    body: BodyInit;
    answer: UploadAnswer;
  };
  /** Fetch a page and follow it as server-sent events, until it is done.
   *
   * `progress` comes with every change, then one `done` or `error`. The fetch continues without a
   * listener; the same request joins it. With `crawlLinks` the response is that of POST. */
  "GET /upload/url": {
    path: {};
    query: { url: string; crawlLinks?: boolean; limit?: number | null; maxDepth?: number | null; includePaths?: string[]; excludePaths?: string[]; provider?: "builtin" | "firecrawl" | null };
    body: undefined;
    answer: Response;
  };
  /** Fetch a page or, with `crawlLinks`, crawl a site.
   *
   * A source with the same address is fetched again. Its open run continues, or is replaced if the
   * request differs. */
  "POST /upload/url": {
    path: {};
    query: {};
    body: UrlRequest;
    answer: UrlAccepted;
  };
  /** Fetch what a run would fetch first, and store nothing: robots.txt, the page, sitemaps.
   *
   * With the built-in crawler, also if Firecrawl would crawl. Takes up to 40 seconds; at most 30 a
   * minute per application. */
  "POST /upload/url/check": {
    path: {};
    query: {};
    body: CrawlRequest;
    answer: CheckedUrl;
  };
}
