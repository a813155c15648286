// Sessions of servers that a test writes: what each lists, by name. Starts no process.
import { BlockhouseError } from '../../../core/errors.ts';
import type { ToolCallRequest, ToolOutcome } from '../../../core/index.ts';
import type { CallableServer, ListedTool, LookedAt, Sessions } from '../../../adapters/tools/server.ts';

export class FakeSessions implements Sessions {
  /** What servers list; one that is not in here does not start. */
  readonly lists = new Map<string, readonly ListedTool[]>();
  /** The servers that were started, with what they got. */
  readonly started: CallableServer[] = [];
  readonly ended: string[] = [];
  readonly called: ToolCallRequest[] = [];
  /** What becomes of a call. */
  outcome: (server: CallableServer, call: ToolCallRequest) => Promise<ToolOutcome> = async () => {
    throw new BlockhouseError('TOOL_NOT_BEGUN', 'Nothing is called here.');
  };
  /** Is awaited before a look resolves. */
  before: (server: string) => Promise<void> = async () => undefined;
  #listener: (server: string, tools: readonly ListedTool[]) => void = () => undefined;

  async look(server: CallableServer, signal: AbortSignal): Promise<LookedAt> {
    this.started.push(server);
    await this.before(server.name);
    signal.throwIfAborted();
    const tools = this.lists.get(server.name);
    if (tools === undefined) throw new BlockhouseError('TOOL_SERVER_FAILED', `${server.name} did not start: no such program.`);
    return { era: 'legacy', tools };
  }

  async call(server: CallableServer, call: ToolCallRequest): Promise<ToolOutcome> {
    this.called.push(call);
    return this.outcome(server, call);
  }

  async tidy(): Promise<void> {}

  /** Servers that run. */
  readonly running = new Set<string>();

  stateOf(server: string): { readonly state: 'idle' | 'ready' } {
    return { state: this.running.has(server) ? 'ready' : 'idle' };
  }

  forgive(): void {}

  async end(server: string): Promise<void> {
    this.ended.push(server);
  }

  onTools(listener: (server: string, tools: readonly ListedTool[]) => void): void {
    this.#listener = listener;
  }

  /** A server says that its list has changed. */
  announce(server: string, tools: readonly ListedTool[]): void {
    this.#listener(server, tools);
  }

  async halt(): Promise<void> {}

  async close(): Promise<void> {}
}

/** A tool that reads a file. */
export function readFileTool(change: Partial<ListedTool> = {}): ListedTool {
  return {
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    annotations: { readOnlyHint: true, openWorldHint: false },
    ...change,
  };
}
