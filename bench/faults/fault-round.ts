// One round of work, thirty steps on a block of its own, where any step may meet a fault of the disk.
//
// disk-codes-only: a step is answered with 200, STORAGE_FULL or STORAGE_FAILED; anything else is a violation.
// works-again: a refused step is sent again at once and must succeed within as many tries as there can be faults.
// refused-yet-done: a step that was refused although its change was made (only its fsync failed) is counted, and a repetition may find it done.
import { setTimeout as delay } from 'node:timers/promises';
import type { EchoDaemon } from '../../spec/support/crash/echo-daemon.ts';
import { type Acknowledged, BlockPromises, type Field, type Place, Promised, Traveller } from '../../spec/support/crash/promises.ts';
import type { Reply, ServerClient } from '../../spec/support/crash/server-client.ts';

const REFUSED: Readonly<Record<string, number>> = { STORAGE_FULL: 507, STORAGE_FAILED: 500 };
/** What a repetition finds where the first try was carried out. */
const DONE: ReadonlySet<unknown> = new Set(['NAME_TAKEN', 'BLOCK_NOT_FOUND', 'ARCHIVE_NOT_FOUND', 'MESSAGE_NOT_FOUND']);
/** One fault for each thread that makes file calls, and one more. */
const MAX_TRIES = 4;
/** A monitor that met the fault waits for longer than a round may take. */
const LONGEST_ANSWER_MS = 1500;

/** Only for hangs. */
const SILENCE_MS = 20_000;

/** The server is gone, or says nothing. */
export class Gone extends Error {}

export class FaultRound {
  readonly promised: Acknowledged;
  readonly violations: string[] = [];
  /** By code, or 'carried out' (refused-yet-done). */
  readonly refused: Record<string, number> = {};
  steps = 0;
  readonly #client: ServerClient;
  readonly #daemon: EchoDaemon;
  readonly #block: BlockPromises;
  readonly #traveller: Traveller;
  #serial = 0;

  constructor(client: ServerClient, daemon: EchoDaemon, number: number) {
    this.#client = client;
    this.#daemon = daemon;
    this.#block = new BlockPromises(`f${number}`);
    this.#traveller = new Traveller(`t${number}`);
    this.promised = { blocks: [this.#block], travellers: [this.#traveller], counts: {} };
  }

  /** True once the block was acknowledged; before that it may be absent. */
  get isMade(): boolean {
    return this.steps > 1;
  }

  /** Thirty steps. Throws Gone when the connection broke. */
  async run(): Promise<void> {
    const path = `/api/blocks/${this.#block.name}`;
    const config = { description: '', adapter: { provider: 'ollama', model: 'm' }, retry: { maxAttempts: 10 } };
    await this.#step('POST', '/api/blocks', { name: this.#block.name, config });
    for (const field of ['description', 'systemPrompt', 'tag'] as const) await this.#configure(field);
    for (let count = 0; count < 3; count += 1) await this.#post();
    for (let count = 0; count < 3; count += 1) await this.#addFact();
    await this.#turn(true);
    await this.#answers();
    await this.#turn(false);
    for (const to of ['blocks', 'archive', 'blocks', 'archive', 'nowhere'] as const) await this.#move(to);
    await this.#configure('description');
    await this.#post();
    await this.#addFact();
    await this.#step('DELETE', path);
    await this.#step('POST', `/api/archive/${this.#block.name}/restore`);
    for (const field of ['description', 'systemPrompt', 'tag'] as const) await this.#configure(field);
    await this.#post();
    await this.#addFact();
    await this.#turn(true);
    await this.#answers();
    await this.#turn(false);
    await this.#configure('description');
    await this.#post();
  }

  /** Removes everything that the round made, so that each round does the same work. */
  async cleanUp(): Promise<void> {
    for (const { name } of [this.#block, this.#traveller]) {
      await this.#client.call('DELETE', `/api/blocks/${name}`);
      await this.#client.call('DELETE', `/api/archive/${name}`);
    }
  }

  /** disk-codes-only, works-again. */
  async #step(method: string, path: string, body?: unknown): Promise<Reply> {
    this.steps += 1;
    let isRepeated = false;
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const reply = await Promise.race([this.#client.call(method, path, body), delay(SILENCE_MS, 'silent' as const, { ref: false })]);
      if (reply === 'silent') {
        this.violations.push(`${method} ${path} has no answer (try ${tries})`);
        throw new Gone();
      }
      if (reply === undefined) throw new Gone();
      if (reply.status === 200) return reply;
      const code = String(reply.json['code']);
      if (isRepeated && DONE.has(code)) {
        this.#count('carried out');
        return reply; // refused-yet-done
      }
      if (REFUSED[code] !== reply.status) this.violations.push(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.json)}`);
      this.#count(code);
      isRepeated = true;
    }
    this.violations.push(`${method} ${path} did not work after ${MAX_TRIES} tries`);
    return { status: 0, json: {} };
  }

  #count(code: string): void {
    this.refused[code] = (this.refused[code] ?? 0) + 1;
  }

  async #promise<T extends string | boolean>(promise: Promised<T>, value: T, method: string, path: string, body?: unknown): Promise<void> {
    promise.ask(value);
    if ((await this.#step(method, path, body)).status !== 0) promise.acknowledge(value);
  }

  #configure(field: Field): Promise<void> {
    const value = `${field} ${this.#next()}`;
    const patch = field === 'tag' ? { tags: [value] } : { [field]: value };
    return this.#promise(this.#block.fields[field], value, 'PUT', `/api/blocks/${this.#block.name}/config`, patch);
  }

  #addFact(): Promise<void> {
    const text = `fact ${this.#next()}`;
    const promise = new Promised<boolean>(false);
    this.#block.facts.set(text, promise);
    return this.#promise(promise, true, 'POST', `/api/blocks/${this.#block.name}/memory/facts`, { text });
  }

  #turn(on: boolean): Promise<void> {
    return this.#promise(this.#block.enabled, on, 'POST', `/api/blocks/${this.#block.name}/${on ? 'start' : 'stop'}`);
  }

  #move(to: Place): Promise<void> {
    const { name, place } = this.#traveller;
    if (place.value === 'nowhere') return this.#promise(place, to, 'POST', '/api/blocks', { name, config: { description: name } });
    if (to === 'archive') return this.#promise(place, to, 'DELETE', `/api/blocks/${name}`);
    return this.#promise(place, to, ...((to === 'blocks' ? ['POST', `/api/archive/${name}/restore`] : ['DELETE', `/api/archive/${name}`]) as [string, string]));
  }

  async #post(): Promise<void> {
    const serial = this.#next();
    const message = { text: `msg ${this.#block.name}/${serial}`, clientId: `client-${this.#block.name}-${serial}`, id: undefined as string | undefined };
    this.#block.messages.push(message);
    const reply = await this.#step('POST', `/api/blocks/${this.#block.name}/chat`, { message: message.text, clientId: message.clientId });
    message.id = reply.json['id'] as string | undefined;
  }

  async #answers(): Promise<void> {
    const deadline = performance.now() + LONGEST_ANSWER_MS;
    while (performance.now() < deadline && this.#block.messages.some(({ text }) => !this.#daemon.answered.has(text))) await delay(5);
  }

  #next(): number {
    this.#serial += 1;
    return this.#serial;
  }
}
