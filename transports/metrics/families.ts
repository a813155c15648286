// The one table of metrics: what each is called, what it says, and by what it is told apart. The answer of `GET /metrics`, docs/observability.md, the panels and
// the alert rules in docs/observability/ are made from it. Pure: no I/O.
//
// Names and units are those of Prometheus (base units, `_total` of counters); what the semantic conventions of OpenTelemetry for generative AI define, times
// to the first token and for each further one among it, has their edges of buckets.
// one-process: all figures are of the process that answers, since its start.

/** How a value behaves: a counter only grows, a gauge is as it is now, a histogram counts values by their size. */
export type FamilyKind = 'counter' | 'gauge' | 'histogram';

/** One metric. */
export interface Family {
  /** As it is scraped. */
  readonly name: string;
  readonly kind: FamilyKind;
  /** One sentence. */
  readonly help: string;
  readonly labels: readonly string[];
  /** The upper edges of the buckets of a histogram, ascending, without infinity. */
  readonly edges?: readonly number[];
}

/** Seconds: `gen_ai.client.operation.duration`. */
const OPERATION_EDGES = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92] as const;
/** Seconds: `gen_ai.server.time_to_first_token`. */
const FIRST_TOKEN_EDGES = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] as const;
/** Seconds: `gen_ai.server.time_per_output_token`. */
const OUTPUT_TOKEN_EDGES = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5] as const;
/** Seconds that a call waits for its place. */
const WAIT_EDGES = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
/** Seconds of a request: `http.server.request.duration`. */
const REQUEST_EDGES = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] as const;

/** Seconds that the disk or the database takes. */
const STORE_EDGES = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] as const;

const CALL_LABELS = ['connection', 'model', 'path', 'status'] as const;

/** Every metric, by the name that our own code has for it. */
export const FAMILIES = {
  info: {
    name: 'blockhouse_info',
    kind: 'gauge',
    help: 'Always 1; its labels say the version, the store and the server among those of a database.',
    labels: ['version', 'store', 'node'],
  },

  requests: {
    name: 'blockhouse_http_requests_total',
    kind: 'counter',
    help: 'HTTP requests that were answered, by the path of their route and their status; a path without a route is "none".',
    labels: ['method', 'route', 'status'],
  },
  requestSeconds: {
    name: 'blockhouse_http_request_duration_seconds',
    kind: 'histogram',
    help: 'From the head of a request to the end of its answer, streams included.',
    labels: ['route'],
    edges: REQUEST_EDGES,
  },
  spansDropped: {
    name: 'blockhouse_spans_dropped_total',
    kind: 'counter',
    help: 'Spans that did not reach the collector, by reason: queue_full, export_failed or shutdown; only with traces over OTLP.',
    labels: ['reason'],
  },
  eventsDropped: {
    name: 'blockhouse_events_dropped_total',
    kind: 'counter',
    help: 'Events with prompts and answers that did not reach the collector, by reason: queue_full, export_failed or shutdown; only where they are exported.',
    labels: ['reason'],
  },
  sockets: { name: 'blockhouse_websockets_open', kind: 'gauge', help: 'WebSockets that are open.', labels: [] },
  socketsOpened: { name: 'blockhouse_websockets_opened_total', kind: 'counter', help: 'WebSockets that were opened.', labels: [] },

  calls: {
    name: 'blockhouse_calls_total',
    kind: 'counter',
    help: 'Calls to models that have ended, by the path that the client called ("block" for a message of a block) and by how they ended: ok, error or cancelled.',
    labels: CALL_LABELS,
  },
  callSeconds: {
    name: 'blockhouse_call_duration_seconds',
    kind: 'histogram',
    help: 'From the acceptance of a call to its end, with all its attempts.',
    labels: CALL_LABELS,
    edges: OPERATION_EDGES,
  },
  firstTokenSeconds: {
    name: 'blockhouse_call_time_to_first_token_seconds',
    kind: 'histogram',
    help: 'From the acceptance of a call to the first text of its answer.',
    labels: CALL_LABELS,
    edges: FIRST_TOKEN_EDGES,
  },
  outputTokenSeconds: {
    name: 'blockhouse_call_time_per_output_token_seconds',
    kind: 'histogram',
    help: 'From the first text of an answer to its end, for each output token after the first.',
    labels: CALL_LABELS,
    edges: OUTPUT_TOKEN_EDGES,
  },
  callErrors: {
    name: 'blockhouse_call_errors_total',
    kind: 'counter',
    help: 'Calls to models that failed, by the code of their error (docs/errors.md).',
    labels: ['connection', 'code'],
  },
  answers: {
    name: 'blockhouse_answers_total',
    kind: 'counter',
    help: 'Answers that came to their end, by why they did: end_turn, max_tokens, tool_use, stop_sequence, content_filter, refusal or unknown.',
    labels: ['connection', 'reason'],
  },
  attempts: { name: 'blockhouse_attempts_total', kind: 'counter', help: 'Attempts that were sent to a provider.', labels: ['connection'] },
  retries: {
    name: 'blockhouse_retries_total',
    kind: 'counter',
    help: 'Attempts that failed and were followed by another one, by the code of their error.',
    labels: ['connection', 'code'],
  },
  waitSeconds: {
    name: 'blockhouse_queue_wait_seconds',
    kind: 'histogram',
    help: 'From the acceptance of a call until it has its place at the provider.',
    labels: ['connection'],
    edges: WAIT_EDGES,
  },
  tokens: {
    name: 'blockhouse_tokens_total',
    kind: 'counter',
    help: 'Tokens of calls to models, by type: input with what was cached, output, and of the input what was read from the cache or written to it.',
    labels: ['connection', 'model', 'type'],
  },
  cost: {
    name: 'blockhouse_cost_usd_total',
    kind: 'counter',
    help: 'What calls have cost, of clients and of blocks, as the ledgers have it, in USD.',
    labels: ['connection', 'model', 'payer'],
  },
  unpriced: {
    name: 'blockhouse_unpriced_calls_total',
    kind: 'counter',
    help: 'Calls with usage whose price is not known, so that no cap in USD counts them.',
    labels: ['connection', 'model', 'payer'],
  },

  running: { name: 'blockhouse_queue_running', kind: 'gauge', help: 'Attempts at a provider that run now, streams included.', labels: ['connection'] },
  waiting: { name: 'blockhouse_queue_waiting', kind: 'gauge', help: 'Calls that wait for a place at a provider now.', labels: ['connection'] },
  places: { name: 'blockhouse_queue_places', kind: 'gauge', help: 'How many attempts may run at a provider at the same time.', labels: ['connection'] },
  paused: {
    name: 'blockhouse_provider_paused',
    kind: 'gauge',
    help: '1 while a provider is not called by anybody, because its calls fail; else 0.',
    labels: ['connection'],
  },
  pausedCallers: {
    name: 'blockhouse_provider_paused_callers',
    kind: 'gauge',
    help: 'Callers and models that are paused at a provider, which is called for others.',
    labels: ['connection'],
  },
  keys: {
    name: 'blockhouse_connection_keys',
    kind: 'gauge',
    help: 'Keys of a connection with several, by their state; only "ready" ones are used.',
    labels: ['connection', 'state'],
  },
  streaming: { name: 'blockhouse_streams_open', kind: 'gauge', help: 'Calls whose answer is on its way now.', labels: [] },

  blocks: { name: 'blockhouse_blocks', kind: 'gauge', help: 'Blocks of the workspace, by state; left out above 10,000.', labels: ['state'] },
  blocksRunning: { name: 'blockhouse_blocks_running', kind: 'gauge', help: 'Blocks whose messages are answered.', labels: [] },
  attention: { name: 'blockhouse_blocks_need_attention', kind: 'gauge', help: 'Blocks that need a person; left out above 10,000.', labels: [] },
  messages: { name: 'blockhouse_messages_total', kind: 'counter', help: 'Messages of blocks that have their outcome.', labels: ['outcome'] },
  queued: { name: 'blockhouse_messages_queued_total', kind: 'counter', help: 'Messages that blocks were sent.', labels: [] },
  oldestWait: {
    name: 'blockhouse_oldest_waiting_message_seconds',
    kind: 'gauge',
    help: 'For how long the oldest message that came to this process waits for its answer to begin; 0 without one.',
    labels: [],
  },
  waitingMessages: {
    name: 'blockhouse_messages_waiting',
    kind: 'gauge',
    help: 'Messages that wait for an answer; left out above 10,000 blocks.',
    labels: [],
  },
  compactions: {
    name: 'blockhouse_compactions_total',
    kind: 'counter',
    help: 'Windows of memories that were moved, by outcome.',
    labels: ['outcome', 'trigger'],
  },

  toolCalls: {
    name: 'blockhouse_tool_calls_total',
    kind: 'counter',
    help: 'Calls of tools by outcome: done, error (the tool said so), unknown, or why they were not made.',
    labels: ['outcome'],
  },
  toolSeconds: {
    name: 'blockhouse_tool_call_duration_seconds',
    kind: 'histogram',
    help: 'From the sending of a call of a tool to its result, by the server of tools.',
    labels: ['server'],
    edges: OPERATION_EDGES,
  },
  toolCallsSent: {
    name: 'blockhouse_tool_calls_sent_total',
    kind: 'counter',
    help: 'Calls of tools that were about to be sent, by the server of tools.',
    labels: ['server'],
  },
  toolCost: {
    name: 'blockhouse_tool_cost_usd_total',
    kind: 'counter',
    help: 'What calls of tools with a price (usdPerCall) have cost, as the ledger has it, in USD, by the server of tools.',
    labels: ['server'],
  },
  toolServersStarted: {
    name: 'blockhouse_tool_servers_started_total',
    kind: 'counter',
    help: 'Starts of processes of servers of tools.',
    labels: ['server'],
  },
  toolServersExited: {
    name: 'blockhouse_tool_servers_exited_total',
    kind: 'counter',
    help: 'Ends of processes of servers of tools, also of those that were asked to end.',
    labels: ['server'],
  },
  approvalsRequested: { name: 'blockhouse_approvals_requested_total', kind: 'counter', help: 'Calls of tools that have waited for people.', labels: [] },
  approvals: {
    name: 'blockhouse_approvals_total',
    kind: 'counter',
    help: 'Calls that do not wait any more, by outcome: approved, denied, expired or cancelled.',
    labels: ['outcome'],
  },

  schedulesFired: { name: 'blockhouse_schedule_runs_total', kind: 'counter', help: 'Messages that schedules of blocks have sent.', labels: [] },
  schedulesSkipped: {
    name: 'blockhouse_schedule_runs_skipped_total',
    kind: 'counter',
    help: 'Runs of schedules that were left out, by reason: missed, overlap, halted or cap.',
    labels: ['reason'],
  },
  hooksTaken: {
    name: 'blockhouse_hook_deliveries_total',
    kind: 'counter',
    help: 'Deliveries that hooks of blocks have taken, also those that came again.',
    labels: [],
  },
  notifyFailures: {
    name: 'blockhouse_notify_failures_total',
    kind: 'counter',
    help: 'Tries to deliver a notification that failed; final ones are not tried again.',
    labels: ['final'],
  },

  keySpent: {
    name: 'blockhouse_key_spent',
    kind: 'gauge',
    help: 'What a named key with a cap has spent in the present day, week or month (UTC), in USD or tokens.',
    labels: ['key', 'unit', 'period'],
  },
  keyCap: { name: 'blockhouse_key_cap', kind: 'gauge', help: 'The caps of named keys, in USD or tokens.', labels: ['key', 'unit', 'period'] },

  storeAnswerSeconds: {
    name: 'blockhouse_store_duration_seconds',
    kind: 'histogram',
    help: 'How long the store took: "file" until a file of a block is on the disk, "ledger" for lines of the ledger of blocks, "gateway-ledger" to write (not flush) lines of that of clients, "database" for a statement.',
    labels: ['part'],
    edges: STORE_EDGES,
  },
  storeSeconds: {
    name: 'blockhouse_store_latency_seconds',
    kind: 'gauge',
    help: 'How long the database took for the last renewal of the lease; only with a database.',
    labels: [],
  },
  storeAway: {
    name: 'blockhouse_store_away',
    kind: 'gauge',
    help: '1 while the database has not answered for the length of a lease; only with a database.',
    labels: [],
  },
  faults: { name: 'blockhouse_workspace_faults_total', kind: 'counter', help: 'What could not be written or watched in the background.', labels: [] },

  unread: {
    name: 'blockhouse_metrics_unread',
    kind: 'gauge',
    help: '1 for a part of these figures (connections, blocks or keys) that could not be read within two seconds, so that its metrics are missing; else 0.',
    labels: ['part'],
  },

  cpuSeconds: { name: 'process_cpu_seconds_total', kind: 'counter', help: 'Processor time of the process, of user and system.', labels: [] },
  residentBytes: { name: 'process_resident_memory_bytes', kind: 'gauge', help: 'Memory of the process.', labels: [] },
  startSeconds: { name: 'process_start_time_seconds', kind: 'gauge', help: 'When the process has started, in seconds of the epoch.', labels: [] },
  heapUsedBytes: { name: 'nodejs_heap_size_used_bytes', kind: 'gauge', help: 'What is used of the heap.', labels: [] },
  heapTotalBytes: { name: 'nodejs_heap_size_total_bytes', kind: 'gauge', help: 'The size of the heap.', labels: [] },
  externalBytes: { name: 'nodejs_external_memory_bytes', kind: 'gauge', help: 'Memory beside the heap, such as buffers.', labels: [] },
  loopP50: {
    name: 'nodejs_eventloop_lag_p50_seconds',
    kind: 'gauge',
    help: 'The delay of the event loop since the last scrape, median; from the second scrape on.',
    labels: [],
  },
  loopP99: { name: 'nodejs_eventloop_lag_p99_seconds', kind: 'gauge', help: 'The delay of the event loop since the last scrape, 99th percentile.', labels: [] },
  loopMax: { name: 'nodejs_eventloop_lag_max_seconds', kind: 'gauge', help: 'The longest delay of the event loop since the last scrape.', labels: [] },
  loopBusy: {
    name: 'nodejs_eventloop_utilization_ratio',
    kind: 'gauge',
    help: 'How much of the time since the last scrape the event loop was busy, 0 to 1.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, Family>>;

/** Our own name of a metric. */
export type FamilyKey = keyof typeof FAMILIES;
