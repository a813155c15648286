// The routes of `/api` as functions: each is one request.
import type {
  ArchiveInfo,
  BlockConfig,
  BlockDetails,
  BlockEntry,
  BlockMemory,
  BlockPulse,
  ChatEntry,
  ChatReceipt,
  CostsReport,
  DoctorReport,
  Explanation,
  Fact,
  HaltState,
  LogFile,
  MessageFound,
} from '../core/index.ts';
import type { Client } from './client.ts';
import { CliError } from './exit-codes.ts';
import { oneLine } from './output.ts';

export interface Told {
  readonly success: true;
  readonly message: string;
}
export type MonitorAction = 'start' | 'stop' | 'restart';

function path(root: string, name: string, ...rest: string[]): string {
  if (name === '') throw new CliError('usage', 'a name must not be empty.');
  return [root, name, ...rest].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join('/');
}

const block = (name: string, ...rest: string[]): string => path('/api/blocks', name, ...rest);
const archived = (name: string, ...rest: string[]): string => path('/api/archive', name, ...rest);

/** What can be asked of the server. Every promise rejects with a CliError that carries the server's text. */
export class Api {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  list(): Promise<{ readonly blocks: readonly BlockEntry[] }> {
    return this.client.json('GET', '/api/blocks');
  }

  create(name: string, config: object): Promise<{ readonly success: true; readonly name: string }> {
    return this.client.json('POST', '/api/blocks', { body: { name, config } });
  }

  details(name: string): Promise<BlockDetails> {
    return this.client.json('GET', block(name));
  }

  explain(name: string): Promise<Explanation> {
    return this.client.json('GET', block(name, 'why'));
  }

  monitor(name: string, action: MonitorAction): Promise<Told & { readonly pulse: BlockPulse }> {
    return this.client.json('POST', block(name, action));
  }

  reset(name: string, hard: boolean): Promise<Told & { readonly cleared: readonly string[] }> {
    return this.client.json('POST', `${block(name, 'reset')}${hard ? '?hard=true' : ''}`);
  }

  post(name: string, message: string, clientId?: string): Promise<ChatReceipt> {
    const headers = { 'x-blockhouse-channel': 'cli' };
    return this.client.json('POST', block(name, 'chat'), { headers, body: { message, ...(clientId !== undefined && { clientId }) } });
  }

  async history(name: string): Promise<readonly ChatEntry[]> {
    return (await this.client.json<{ messages: ChatEntry[] }>('GET', block(name, 'chat'))).messages;
  }

  /** A message and its answer, also after they have left the active history. */
  message(name: string, id: string): Promise<MessageFound> {
    return this.client.json('GET', block(name, 'chat', id));
  }

  changeMessage(name: string, id: string, action: 'cancel' | 'retry'): Promise<Told & { readonly entry: ChatEntry }> {
    return this.client.json('POST', block(name, 'chat', id, action));
  }

  async config(name: string): Promise<BlockConfig> {
    return (await this.client.json<{ config: BlockConfig }>('GET', block(name, 'config'))).config;
  }

  /** `rev` is the revision that was seen; another one is refused. */
  async updateConfig(name: string, patch: object, rev?: number): Promise<BlockConfig> {
    const headers = rev === undefined ? {} : { 'if-match': `"${rev}"` };
    return (await this.client.json<{ config: BlockConfig }>('PUT', block(name, 'config'), { headers, body: patch })).config;
  }

  async logs(name: string): Promise<readonly LogFile[]> {
    return (await this.client.json<{ logs: LogFile[] }>('GET', block(name, 'logs'))).logs;
  }

  addFact(name: string, text: string): Promise<{ readonly success: true; readonly fact: Fact }> {
    return this.client.json('POST', block(name, 'memory', 'facts'), { body: { text } });
  }

  removeFact(name: string, id: string): Promise<Told> {
    return this.client.json('DELETE', block(name, 'memory', 'facts', id));
  }

  changeMemory(name: string, action: 'compact' | 'undo'): Promise<Told & { readonly memory: BlockMemory }> {
    return this.client.json('POST', block(name, 'memory', action), { hurry: false });
  }

  archive(name: string): Promise<Told & { readonly archiveName: string }> {
    return this.client.json('DELETE', block(name));
  }

  async archives(): Promise<readonly ArchiveInfo[]> {
    return (await this.client.json<{ archives: ArchiveInfo[] }>('GET', '/api/archive')).archives;
  }

  restore(archive: string, name?: string): Promise<Told & { readonly name: string }> {
    return this.client.json('POST', archived(archive, 'restore'), name === undefined ? {} : { body: { name } });
  }

  purge(archive: string): Promise<Told> {
    return this.client.json('DELETE', archived(archive));
  }

  export(name: string): Promise<Buffer> {
    return this.client.bytes('GET', block(name, 'export'));
  }

  import(bytes: Uint8Array, name?: string): Promise<{ readonly name: string }> {
    return this.client.json('POST', `/api/import${name === undefined ? '' : `?name=${encodeURIComponent(name)}`}`, { bytes, hurry: false });
  }

  costs(by: string, name?: string): Promise<CostsReport> {
    return this.client.json('GET', `/api/costs?by=${encodeURIComponent(by)}${name === undefined ? '' : `&block=${encodeURIComponent(name)}`}`);
  }

  check(): Promise<DoctorReport> {
    return this.client.json('GET', '/api/doctor');
  }

  halted(): Promise<HaltState> {
    return this.client.json('GET', '/api/halt');
  }

  halt(reason?: string): Promise<HaltState> {
    return this.client.json('POST', '/api/halt', { body: reason === undefined ? {} : { reason } });
  }

  unhalt(): Promise<HaltState> {
    return this.client.json('DELETE', '/api/halt');
  }

  /** The model that an adapter takes where none is named. Throws for a provider that is not listed by this name, with those that are. */
  async defaultModel(provider: string): Promise<string> {
    const { adapters } = await this.client.json<{ adapters: { id: string; defaultModel: string }[] }>('GET', '/v1/adapters');
    const found = adapters.find(({ id }) => id === provider);
    if (found !== undefined) return found.defaultModel;
    const ids = adapters.map(({ id }) => id).join(', ');
    throw new CliError('usage', `${oneLine(provider)} is none of the providers (${ids}); name one of them, or its model with --model, too.`);
  }
}
