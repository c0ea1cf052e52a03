// Generated from the OpenAPI document by `python -m tests.make_client_types`; do not edit.

/** One page of a list; `nextCursor` is null on the last one. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
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
  headings: string[];
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
}

export interface ChunkingView {
  size: number | null;
  overlap: number | null;
  by: "heading" | "page" | "row" | "size" | null;
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
  revokedAt: string | null;
  /** The key itself: only its digest is stored. */
  key: string;
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
}

export interface Embedder {
  provider: string;
  model: string;
  dimension: number;
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

export interface Event {
  seq: number;
  type: string;
  data: Record<string, unknown>;
  createdAt: string;
}

/** Which jobs; at least one field is required. */
export interface FailedJobs {
  batchId?: string | null;
  knowledgeSourceId?: string | null;
  type?: string | null;
  errorCode?: string | null;
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
  logs?: JobLog[];
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

/** Hits below any of these are left out, and so are hits without the score. */
export interface LeastScores {
  cosine?: number | null;
  bm25?: number | null;
  /** Has an effect only where the hits are reranked. */
  rerank?: number | null;
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

/** The sources to add and to remove; at least one. */
export interface MembersChange {
  add?: string[];
  remove?: string[];
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

export interface NewKey {
  name: string;
  role: "viewer" | "editor" | "admin";
  /** The collections that the key may see, with the role `viewer`; null: everything. */
  collectionIds?: string[] | null;
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
  headings: string[];
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

export interface Queued {
  deliveryId: string;
}

export interface QuotaView {
  used: number;
  limit: number;
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
}

export interface SearchRequest {
  query: string;
  limit?: number;
  mode?: "hybrid" | "vector" | "keyword";
  filter?: SearchFilter;
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

/** Fields that are left out stay unchanged; `metadata` is replaced as a whole. */
export interface SourcePatch {
  name?: string | null;
  metadata?: Record<string, unknown> | null;
  /** When a page or site is fetched again; null: nightly, like all other sources. */
  rescrape?: Schedule | null;
  /** Replaced as a whole; stored text is chunked again, without reading files or pages. */
  chunking?: Chunking | null;
}

export interface Ticket {
  ticket: string;
  expiresAt: string;
}

export interface Triggered {
  triggered: boolean;
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
  /** Of its files today (UTC), in parsers and a local embedder. It has no limit. */
  cpuSeconds: number;
}

/** What the source waits for. */
export interface Waiting {
  /** As `waitReason` of its job. */
  reason: string;
  code: string | null;
  /** What went wrong, such as the embedding provider's refusal. */
  message: string | null;
  until: string;
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

export interface WorkerConfig {
  paused: boolean;
  limits: Record<string, LaneLimitsView>;
}

/** Fields that are left out stay unchanged; `limits` are replaced as a whole. */
export interface WorkerConfigPut {
  paused?: boolean;
  limits?: Record<string, unknown>;
}

export interface Operations {
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
  /** The extracted text of a document, as Markdown. */
  "GET /api/documents/{id}/text": {
    path: { id: string };
    query: {};
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
    query: { status?: "pending" | "processing" | "completed" | "failed" | "cancelled" | "review_needed" | null; type?: string | null; knowledgeSourceId?: string | null; batchId?: string | null; parentJobId?: string | null; errorCode?: string | null; limit?: number; cursor?: string | null };
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
  /** Knowledge sources, newest first. */
  "GET /api/knowledge-sources": {
    path: {};
    query: { status?: "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed" | null; type?: "file" | "url" | "site" | null; batchId?: string | null; uri?: string | null; collectionId?: string | null; limit?: number; cursor?: string | null };
    body: undefined;
    answer: Page<Source>;
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
  /** Fetch a page or site again now. If a run is open, that run continues. */
  "POST /api/knowledge-sources/{id}/rescrape": {
    path: { id: string };
    query: {};
    body: RescrapeRequest | null;
    answer: RescrapeAccepted;
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
  /** A delivery with its body. */
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
  /** End the pauses of all providers and resume the jobs that wait for them.
   *
   * A provider that still fails pauses its lane again at the first request. No attempt is used up. */
  "POST /api/worker/provider/resume": {
    path: {};
    query: {};
    body: undefined;
    answer: Resumed;
  };
  /** The process is alive. */
  "GET /healthz": {
    path: {};
    query: {};
    body: undefined;
    answer: Health;
  };
  /** Counters of this process, and gauges from the database if it responds.
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
}
