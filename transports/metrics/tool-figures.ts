// The figures of tools and of decisions about their calls.
//
// bounded: the names of tools are no labels, since servers choose them. Servers are named as mcp.json does, MAX_SERVERS at most; all others count as "other".
import type { Core } from '../../core/index.ts';
import { FAMILIES } from './families.ts';
import { Counts, Histogram, Shelves } from './series.ts';

const MAX_SERVERS = 200;
const OTHER = 'other';
/** Somebody is called for the first one: a counter that is there with 0 is seen to grow. */
const UNKNOWN = 'unknown';

/** What is counted of one server of tools. */
class ServerFigures {
  readonly seconds = new Histogram(FAMILIES.toolSeconds);
  sent = 0;
  costUsd = 0;
  started = 0;
  exited = 0;
}

/** Everything that is counted of tools. */
export class ToolFigures {
  readonly calls = new Counts();
  readonly approvals = new Counts();
  readonly #servers = new Shelves(() => new ServerFigures(), MAX_SERVERS);
  requested = 0;

  constructor(events: Core['events']) {
    this.calls.add(UNKNOWN, 0);
    events.on('tool.called', ({ tool }) => {
      this.#ofTool(tool).sent += 1;
    });
    events.on('tool.finished', ({ tool, outcome, isError, ms }) => {
      this.calls.add(isError ? 'error' : outcome);
      if (ms !== null) this.#ofTool(tool).seconds.observe(ms / 1000);
    });
    events.on('tool.billed', ({ tool, costUsd }) => {
      this.#ofTool(tool).costUsd += costUsd;
    });
    events.on('server.started', ({ server }) => {
      this.#of(server).started += 1;
    });
    events.on('server.exited', ({ server }) => {
      this.#of(server).exited += 1;
    });
    events.on('approval.requested', () => {
      this.requested += 1;
    });
    events.on('approval.decided', ({ state }) => this.approvals.add(state));
  }

  *seconds(): Generator<[readonly string[], Histogram]> {
    for (const [server, { seconds }] of this.#servers.entries()) yield [[server], seconds];
  }

  *counts(of: 'sent' | 'started' | 'exited'): Generator<[readonly string[], number]> {
    for (const [server, figures] of this.#servers.entries()) yield [[server], figures[of]];
  }

  /** Of servers with prices alone. */
  *costs(): Generator<[readonly string[], number]> {
    for (const [server, { costUsd }] of this.#servers.entries()) if (costUsd > 0) yield [[server], costUsd];
  }

  /** `tool` is `server/tool`. */
  #ofTool(tool: string): ServerFigures {
    const end = tool.indexOf('/');
    return this.#of(end < 0 ? OTHER : tool.slice(0, end));
  }

  #of(server: string): ServerFigures {
    return this.#servers.find(server) ?? this.#servers.of(this.#servers.isFull ? OTHER : server);
  }
}
