// Runs the tools of payment-server.mjs for a core: one process, started at the first call, and again after it has ended.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { BlockhouseError } from '../../../core/errors.ts';
import type { Catalogue, ServerSettings, ToolCallRequest, ToolDefinition, ToolHost, ToolOutcome, ToolQuestion } from '../../../core/tools/port.ts';

const payment = {
  to: { type: 'string' },
  amount: { type: 'number' },
  delayMs: { type: 'integer' },
  answerAfterMs: { type: 'integer' },
  break: { type: 'string' },
};
const tool = (name: string, properties: object, required: string[], annotations: ToolDefinition['annotations']): ToolDefinition => ({
  server: 'bank',
  tool: name,
  pin: `pin-of-${name}`,
  description: `The tool ${name} of a bank.`,
  inputSchema: { type: 'object', properties, required, additionalProperties: false } as ToolDefinition['inputSchema'],
  annotations,
});
const WRITES = { readOnlyHint: false, idempotentHint: false, openWorldHint: false };
const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

export const BANK: readonly ToolDefinition[] = [
  tool('pay', payment, ['to', 'amount'], WRITES),
  tool('pay_once', { ...payment, key: { type: 'string' } }, ['to', 'amount', 'key'], WRITES),
  tool('set_limit', { ...payment, limit: { type: 'number' } }, ['limit'], { ...WRITES, idempotentHint: true }),
  tool('list', { delayMs: { type: 'integer' }, break: { type: 'string' } }, [], READS),
  tool('long', { characters: { type: 'integer' } }, ['characters'], READS),
  tool('fail', {}, [], READS),
];

/** Pays, as a task. */
export const PAY_LATER = tool('pay_later', payment, ['to', 'amount'], WRITES);

/** Asks a person who pays, and pays then. */
export const PAY_ASKED = tool('pay_asked', payment, ['to', 'amount'], WRITES);

/** What it asks. */
const WHO = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Who pays?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
};

/** The user trusts all annotations of the bank. */
export const TRUSTED: ServerSettings = {
  marks: { readOnly: ['*'], idempotent: ['*'], closedWorld: ['*'] },
  keyArguments: { pay_once: 'key' },
};

export interface PaymentHostOptions {
  readonly book: string;
  /** The program of the tools. */
  readonly server?: string;
  readonly settings?: ServerSettings;
  readonly tools?: readonly ToolDefinition[];
  /** Gives the result in place of the process, where it gives one. */
  readonly answer?: (call: ToolCallRequest) => ToolOutcome | undefined;
  /** Of other servers than the bank. */
  readonly others?: Readonly<Record<string, ServerSettings>>;
  /** Called with each call before its bytes leave, and after its answer has come. */
  onBefore?(call: ToolCallRequest): void | Promise<void>;
  onAfter?(call: ToolCallRequest): void | Promise<void>;
  /** Called when the server has asked a person, before anybody knows. */
  onQuestion?(call: ToolCallRequest): void | Promise<void>;
  /** Called after each answer about a task. */
  onAsked?(call: ToolCallRequest): void | Promise<void>;
}

/** How often it asks for a task. */
const POLL_MS = 10;

interface Answer {
  readonly isError: boolean;
  readonly text: string;
  /** A task was made of the call. */
  readonly taskId?: string;
  readonly isWorking?: boolean;
  readonly isGone?: boolean;
  /** It asks a person. */
  readonly asks?: boolean;
}

/** A host whose tools run in a process. */
export class PaymentHost implements ToolHost {
  readonly calls: ToolCallRequest[] = [];
  tools: readonly ToolDefinition[];
  halts = 0;
  readonly #options: PaymentHostOptions;
  readonly #waiting = new Map<number, (answer: Answer | undefined) => void>();
  #process: ChildProcessWithoutNullStreams | undefined;
  #lastId = 0;

  constructor(options: PaymentHostOptions) {
    this.#options = options;
    this.tools = options.tools ?? BANK;
  }

  async catalogue(servers: readonly string[]): Promise<Catalogue> {
    const settings = { bank: this.#options.settings ?? TRUSTED, ...this.#options.others };
    const problems = servers.filter((server) => !Object.hasOwn(settings, server)).map((server) => ({ server, problem: 'there is no such server' }));
    return { tools: this.tools.filter(({ server }) => servers.includes(server)), settings, problems };
  }

  async call(call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome | ToolQuestion> {
    this.calls.push(call);
    await this.#options.onBefore?.(call);
    const begun = performance.now();
    const given = this.#options.answer?.(call);
    if (given !== undefined) return given;
    let answer = await this.#ask(call, signal, call.task?.taskId);
    if (answer?.taskId !== undefined) {
      const { taskId } = answer;
      await call.onTask?.({ taskId, ttlMs: null, pollMs: POLL_MS });
      answer = await this.#ask(call, signal, taskId);
      await this.#options.onAsked?.(call);
      for (; answer?.isWorking === true; answer = await this.#ask(call, signal, taskId)) await delay(POLL_MS);
    } else for (; answer?.isWorking === true; answer = await this.#ask(call, signal, call.task?.taskId)) await delay(POLL_MS);
    if (answer === undefined) throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', signal.aborted ? 'the call was cut off' : 'bank has ended');
    if (answer.asks === true) {
      await this.#options.onQuestion?.(call);
      return { kind: 'input-required', requests: { who: WHO }, requestState: call.callId, ms: performance.now() - begun };
    }
    if (answer.isGone === true) throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'bank does not know the task any more');
    await this.#options.onAfter?.(call);
    return { kind: 'result', isError: answer.isError, parts: [{ type: 'text', text: answer.text }], ms: performance.now() - begun };
  }

  #ask(call: ToolCallRequest, signal: AbortSignal, taskId: string | undefined): Promise<Answer | undefined> {
    const child = this.#process ?? this.#start();
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const end = (answer: Answer | undefined): void => {
        this.#waiting.delete(id);
        signal.removeEventListener('abort', cut);
        resolve(answer);
      };
      const cut = (): void => end(undefined);
      this.#waiting.set(id, end);
      signal.addEventListener('abort', cut, { once: true });
      child.stdin.write(`${JSON.stringify({ id, tool: call.tool, args: call.arguments, callId: call.callId, taskId, answers: call.input?.responses })}\n`);
    });
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, [this.#options.server ?? join(import.meta.dirname, 'payment-server.mjs'), this.#options.book], { stdio: 'pipe' });
    child.stdin.on('error', () => undefined); // it has ended
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, ...answer } = JSON.parse(line) as Answer & { id: number };
      this.#waiting.get(id)?.(answer);
    });
    child.once('exit', () => {
      if (this.#process === child) this.#process = undefined;
      for (const end of [...this.#waiting.values()]) end(undefined);
    });
    this.#process = child;
    return child;
  }

  async halt(): Promise<void> {
    this.halts += 1;
    await this.close();
  }

  async close(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
