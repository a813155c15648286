// The routes of `/api` as functions, each of which makes one request. The types of their answers come from the server's handlers.
import type { ArchiveInfo, AskAgain, BlockConfig, BlockEntry, CallTool, ChatEntry, Decide, LogFile, SetAlias, SetNotifyTarget } from '../../core/index.ts';
import type { AnswerOf } from '../../transports/http/routes.ts';
import type { CallOptions, Client, Page } from './client.ts';
import { type PathParams, type QueryParams, type RouteKey, targetOf } from './routes.ts';

/** An answer whose `message` is a sentence for the person. */
export interface Told {
  readonly success: true;
  readonly message: string;
}
const FROM_CLI = { 'x-blockhouse-channel': 'cli' };
/** UTC days, such as `2026-11-01`, both ends with them. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}
/** The last part of the route that changes a monitor. */
export type MonitorAction = 'start' | 'stop' | 'restart';

interface RequestOptions<K extends RouteKey> extends CallOptions {
  readonly query?: QueryParams<K>;
}

/** The calls of the server. Every promise rejects with a CliError that has the server's text. */
export class Api {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /** The same calls, of which none is aborted. */
  get unabortable(): Api {
    return new Api(this.client.withSignal(new AbortController().signal));
  }

  /** A code that signs a browser in once; a printed one lasts longer and is for anybody. */
  sessionCode(isPrinted: boolean) {
    return this.#call('POST /api/session/code', {}, { query: { printed: isPrinted ? 'true' : undefined } });
  }

  /** All blocks, page after page where the server has too many for one answer. */
  async list(): Promise<AnswerOf<'GET /api/blocks'>> {
    const { method, target } = targetOf('GET /api/blocks', {});
    const blocks: BlockEntry[] = [];
    for (let path: string | undefined = target; path !== undefined; ) {
      const page: Page<AnswerOf<'GET /api/blocks'>> = await this.client.page(method, path);
      blocks.push(...page.answer.blocks);
      path = page.next;
    }
    return { blocks };
  }

  health() {
    return this.#call('GET /api/health', {});
  }

  create(name: string, config: object) {
    return this.#call('POST /api/blocks', {}, { body: { name, config } });
  }

  details(name: string) {
    return this.#call('GET /api/blocks/:name', { name });
  }

  explain(name: string) {
    return this.#call('GET /api/blocks/:name/why', { name });
  }

  monitor(name: string, action: MonitorAction) {
    return this.#call(`POST /api/blocks/:name/${action}`, { name });
  }

  reset(name: string, hard: boolean) {
    return this.#call('POST /api/blocks/:name/reset', { name }, { query: { hard: hard ? 'true' : undefined } });
  }

  post(name: string, message: string, clientId?: string) {
    return this.#call('POST /api/blocks/:name/chat', { name }, { headers: FROM_CLI, body: { message, ...(clientId !== undefined && { clientId }) } });
  }

  /** Asks the last message again. */
  askAgain(name: string, id: string, body: AskAgain) {
    return this.#call('POST /api/blocks/:name/chat/:id/again', { name, id }, { headers: FROM_CLI, body });
  }

  search(query: QueryParams<'GET /api/search'>) {
    return this.#call('GET /api/search', {}, { query });
  }

  /** The active entries, or a page of the whole conversation; oldest first. */
  async history(name: string, page?: QueryParams<'GET /api/blocks/:name/chat'>): Promise<readonly ChatEntry[]> {
    return (await this.#call('GET /api/blocks/:name/chat', { name }, page === undefined ? {} : { query: page })).messages;
  }

  /** A message and its answer, active or archived. */
  message(name: string, id: string) {
    return this.#call('GET /api/blocks/:name/chat/:id', { name, id });
  }

  changeMessage(name: string, id: string, action: 'cancel' | 'retry') {
    return this.#call(`POST /api/blocks/:name/chat/:id/${action}`, { name, id });
  }

  async config(name: string): Promise<BlockConfig> {
    return (await this.#call('GET /api/blocks/:name/config', { name })).config;
  }

  /** With `rev`, the change fails with REVISION_MISMATCH when the configuration has another revision. */
  updateConfig(name: string, patch: object, rev?: number) {
    const headers = rev === undefined ? {} : { 'if-match': `"${rev}"` };
    return this.#call('PUT /api/blocks/:name/config', { name }, { headers, body: patch });
  }

  async logs(name: string): Promise<readonly LogFile[]> {
    const answer = await this.#call('GET /api/blocks/:name/logs', { name });
    return 'logs' in answer ? answer.logs : []; // without a file in the query it is always the list
  }

  schedules(name: string) {
    return this.#call('GET /api/blocks/:name/schedule', { name });
  }

  steerSchedule(name: string, id: string, action: 'pause' | 'resume') {
    return this.#call(`POST /api/blocks/:name/schedule/:id/${action}`, { name, id });
  }

  runSchedule(name: string, id: string) {
    return this.#call('POST /api/blocks/:name/schedule/:id/run', { name, id });
  }

  notifyTargets() {
    return this.#call('GET /api/notify', {});
  }

  setNotifyTarget(name: string, body: SetNotifyTarget) {
    return this.#call('PUT /api/notify/:name', { name }, { body });
  }

  removeNotifyTarget(name: string) {
    return this.#call('DELETE /api/notify/:name', { name });
  }

  testNotifyTarget(name: string) {
    return this.#call('POST /api/notify/:name/test', { name });
  }

  /** Those that wait, page after page. */
  async approvals(block?: string): Promise<AnswerOf<'GET /api/approvals'>['approvals'][number][]> {
    const found: AnswerOf<'GET /api/approvals'>['approvals'][number][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: AnswerOf<'GET /api/approvals'> = await this.#call('GET /api/approvals', {}, { query: { block, cursor } });
      found.push(...page.approvals);
      cursor = page.cursor;
    }
    return found;
  }

  approval(id: string) {
    return this.#call('GET /api/approvals/:id', { id });
  }

  decide(id: string, body: Decide) {
    return this.#call('POST /api/approvals/:id', { id }, { body, headers: FROM_CLI });
  }

  run(name: string, id: string) {
    return this.#call('GET /api/blocks/:name/runs/:id', { name, id });
  }

  hooks(name: string) {
    return this.#call('GET /api/blocks/:name/hooks', { name });
  }

  setHook(name: string, id: string, body: object) {
    return this.#call('PUT /api/blocks/:name/hooks/:id', { name, id }, { body });
  }

  removeHook(name: string, id: string) {
    return this.#call('DELETE /api/blocks/:name/hooks/:id', { name, id });
  }

  blockTools(name: string) {
    return this.#call('GET /api/blocks/:name/tools', { name });
  }

  toolServers() {
    return this.#call('GET /api/tools', {});
  }

  toolServer(server: string) {
    return this.#call('GET /api/tools/:server', { server });
  }

  putToolServer(server: string, body: object) {
    return this.#call('PUT /api/tools/:server', { server }, { body });
  }

  removeToolServer(server: string) {
    return this.#call('DELETE /api/tools/:server', { server });
  }

  testToolServer(server: string, definition: string) {
    return this.#call('POST /api/tools/:server/test', { server }, { body: { definition }, hurry: false });
  }

  callTool(server: string, body: CallTool) {
    return this.#call('POST /api/tools/:server/call', { server }, { body, hurry: false });
  }

  approveToolServer(server: string, definition: string, tools: Readonly<Record<string, string>>) {
    return this.#call('POST /api/tools/:server/approve', { server }, { body: { definition, tools }, headers: FROM_CLI });
  }

  setToolSecret(server: string, field: string, value: string | undefined) {
    if (value === undefined) return this.#call('DELETE /api/tools/:server/secrets/:field', { server, field });
    return this.#call('PUT /api/tools/:server/secrets/:field', { server, field }, { body: { value } });
  }

  addFact(name: string, text: string) {
    return this.#call('POST /api/blocks/:name/memory/facts', { name }, { body: { text } });
  }

  removeFact(name: string, id: string) {
    return this.#call('DELETE /api/blocks/:name/memory/facts/:id', { name, id });
  }

  changeMemory(name: string, action: 'compact' | 'undo') {
    return this.#call(`POST /api/blocks/:name/memory/${action}`, { name }, { hurry: false });
  }

  archive(name: string) {
    return this.#call('DELETE /api/blocks/:name', { name });
  }

  rename(name: string, to: string) {
    return this.#call('POST /api/blocks/:name/rename', { name }, { body: { name: to } });
  }

  async archives(): Promise<readonly ArchiveInfo[]> {
    return (await this.#call('GET /api/archive', {})).archives;
  }

  restore(archive: string, name?: string) {
    return this.#call('POST /api/archive/:name/restore', { name: archive }, name === undefined ? {} : { body: { name } });
  }

  purge(archive: string) {
    return this.#call('DELETE /api/archive/:name', { name: archive });
  }

  export(name: string): Promise<Buffer> {
    const { method, target } = targetOf('GET /api/blocks/:name/export', { name });
    return this.client.bytes(method, target);
  }

  import(bytes: Uint8Array, name?: string) {
    return this.#call('POST /api/import', {}, { query: { name }, bytes, hurry: false });
  }

  costs(by: string, block?: string, days: Days = {}) {
    return this.#call('GET /api/costs', {}, { query: { by, block, ...days } });
  }

  gatewayCosts(by: string, days: Days = {}) {
    return this.#call('GET /api/costs', {}, { query: { source: 'gateway', by, ...days } });
  }

  reconcile(bill: Uint8Array, query: QueryParams<'POST /api/costs/reconcile'>) {
    return this.#call('POST /api/costs/reconcile', {}, { query, bytes: bill, type: 'text/csv', hurry: false });
  }

  keys() {
    return this.#call('GET /api/keys', {});
  }

  createKey(key: object) {
    return this.#call('POST /api/keys', {}, { body: key });
  }

  changeKey(name: string, limits: object) {
    return this.#call('PATCH /api/keys/:name', { name }, { body: limits });
  }

  /** The calls of models that are under way, and the last ones that have ended. */
  gatewayRequests() {
    return this.#call('GET /api/gateway/requests', {});
  }

  keyGroups() {
    return this.#call('GET /api/key-groups', {});
  }

  setKeyGroup(name: string, limits: object) {
    return this.#call('PUT /api/key-groups/:name', { name }, { body: limits });
  }

  removeKeyGroup(name: string) {
    return this.#call('DELETE /api/key-groups/:name', { name });
  }

  debugKey(name: string, body: { readonly minutes?: number }) {
    return this.#call('POST /api/keys/:name/debug', { name }, { body });
  }

  endDebugKey(name: string) {
    return this.#call('DELETE /api/keys/:name/debug', { name });
  }

  revokeKey(name: string) {
    return this.#call('DELETE /api/keys/:name', { name });
  }

  modelNames() {
    return this.#call('GET /api/models', {}, { hurry: false });
  }

  resolveModel(name: string) {
    return this.#call('GET /api/models/:name', { name }, { hurry: false });
  }

  setAlias(name: string, { targets, on }: SetAlias) {
    return this.#call('PUT /api/models/:name', { name }, { body: { targets, ...(on !== undefined && { on }) } });
  }

  removeAlias(name: string) {
    return this.#call('DELETE /api/models/:name', { name });
  }

  setDefaultProvider(defaultProvider: string | null) {
    return this.#call('PUT /api/models', {}, { body: { defaultProvider } });
  }

  async adapters() {
    return (await this.#call('GET /v1/adapters', {})).adapters;
  }

  /** The adapters, and the connections of auth.json. */
  async connections() {
    return (await this.#call('GET /api/connections', {})).connections;
  }

  /** The prices of models; with `model`, of that one. */
  prices(model?: string) {
    return this.#call('GET /api/prices', {}, { query: { model } });
  }

  adapterStatus(adapter?: string) {
    return this.#call('GET /api/adapters', {}, { query: { adapter } });
  }

  settings() {
    return this.#call('GET /api/settings', {});
  }

  models(provider: string) {
    return this.#call('GET /v1/adapters/:provider/models', { provider }, { hurry: false });
  }

  verify(provider: string) {
    return this.#call('POST /v1/adapters/:provider/verify', { provider }, { body: {}, hurry: false, alsoAnswers: 503 });
  }

  check() {
    return this.#call('GET /api/doctor', {});
  }

  async nodes() {
    return (await this.#call('GET /api/nodes', {})).nodes;
  }

  drain(node: string, isDraining: boolean) {
    return this.#call(isDraining ? 'POST /api/nodes/:node/drain' : 'DELETE /api/nodes/:node/drain', { node });
  }

  halted() {
    return this.#call('GET /api/halt', {});
  }

  halt(reason?: string) {
    return this.#call('POST /api/halt', {}, { body: reason === undefined ? {} : { reason } });
  }

  unhalt() {
    return this.#call('DELETE /api/halt', {});
  }

  #call<K extends RouteKey>(route: K, params: PathParams<K>, { query, ...options }: RequestOptions<K> = {}): Promise<AnswerOf<K>> {
    const { method, target } = targetOf(route, params, query);
    return this.client.json(method, target, options);
  }
}
