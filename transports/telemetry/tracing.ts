// The spans of requests.
//
// no-text: an attribute of a span has ids, names, counts and times, and no word of a prompt or an answer, nor a key.
// own-parents: what belongs to a request names its span by `traceparent` (core/base/traceparent.ts), and not by the request's id, which a client may use twice.
import type { IncomingMessage } from 'node:http';
import { parseTraceparent, type TraceParent } from '../../core/base/traceparent.ts';
import { withoutTicket } from '../../core/base/url.ts';
import type { Core, CoreEvents } from '../../core/index.ts';
import { KEY } from './attributes.ts';
import type { SpanClock } from './clock.ts';
import { Recent } from './recent.ts';
import type { SpanBatch } from './span-batch.ts';
import { type FormValue, SharedAttributes, SpanForm } from './span-form.ts';
import { headerOf, isRecorded, type Noted, type SpanIds } from './spans.ts';

/** What spans are made with. */
export interface Tracing {
  readonly clock: SpanClock;
  readonly ids: SpanIds;
  /** Takes what has ended. */
  note(noted: Noted): void;
}

/** Clients may make up others. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
const MAX_PATH = 200;
const NO_ROUTE = 'none';

type Served = CoreEvents['request.served'];

/** What requests that were answered alike have in common. */
interface Likeness {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** True if their path is that of the route. */
  readonly isPlain: boolean;
  readonly form: SpanForm;
  /** Of a failure. */
  readonly code: string | undefined;
}

const likenesses = new Recent<Likeness>();

function likenessOf({ method, route, status }: Served, isPlain: boolean): Likeness {
  for (const known of likenesses.all)
    if (known.route === route && known.status === status && known.method === method && known.isPlain === isPlain) return known;
  return likenesses.keep(newLikeness(method, route, status, isPlain));
}

function newLikeness(method: string, route: string, status: number, isPlain: boolean): Likeness {
  const isKnown = METHODS.has(method);
  const hasRoute = route !== NO_ROUTE;
  const attributes = new SharedAttributes([
    [KEY.method, isKnown ? method : '_OTHER'],
    [KEY.scheme, 'http'],
    [KEY.status, status],
    [KEY.originalMethod, isKnown ? undefined : method],
    [KEY.route, hasRoute ? route : undefined],
    [KEY.path, isPlain ? route : undefined],
  ]);
  const verb = isKnown ? method : 'HTTP';
  const form = new SpanForm({ name: hasRoute ? `${verb} ${route}` : verb, kind: 'SERVER', isRemote: true, attributes, keys: [KEY.requestId, KEY.path] });
  return { method, route, status, isPlain, form, code: status >= 500 ? String(status) : undefined };
}

/** Those of the span that is written. */
const values: FormValue[] = [undefined, undefined];

/** One request. */
class RequestSpan implements Noted {
  readonly count = 1;
  readonly isReady = true;
  readonly own: TraceParent;
  /** Its header. */
  readonly traceparent: string;
  readonly #parent: TraceParent | undefined;
  readonly #from: number;
  readonly #url: string;
  #served: Served | undefined;

  constructor(own: TraceParent, traceparent: string, parent: TraceParent | undefined, from: number, url: string) {
    this.own = own;
    this.traceparent = traceparent;
    this.#parent = parent;
    this.#from = from;
    this.#url = url;
  }

  end(served: Served): this {
    this.#served = served;
    return this;
  }

  write(batch: SpanBatch): void {
    const served = this.#served as Served;
    const from = this.#from;
    const isPlain = this.#url === served.route;
    const { form, code } = likenessOf(served, isPlain);
    const place = { own: this.own, parent: this.#parent, from, to: from + served.durationMs };
    const path = isPlain ? undefined : withoutTicket(pathOf(this.#url));
    if (code === undefined) {
      values[0] = served.requestId;
      values[1] = path;
      batch.fill(form, place, values);
      return;
    }
    batch.begin({ name: form.name, kind: form.kind, isRemote: true, ...place, code });
    batch.putAll(form.attributes);
    batch.put(KEY.requestId, served.requestId);
    if (path !== undefined) batch.put(KEY.path, path);
    batch.end();
  }
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return url.slice(0, end < 0 ? MAX_PATH : Math.min(end, MAX_PATH));
}

/** So many digits of the span's id say where in the table it stands. */
const SLOTS = 4096;

/**
 * The spans of requests under way, by their headers: a table of our own, since a Map hashes the whole header and is made anew after each few dozen deletions. The ids are random
 * and ours, so that few have the same place; those go into a Map.
 */
class OpenSpans {
  readonly #slots: (RequestSpan | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  readonly #others = new Map<string, RequestSpan>();

  add(span: RequestSpan): void {
    const slot = slotOf(span.traceparent);
    if (this.#slots[slot] === undefined) this.#slots[slot] = span;
    else this.#others.set(span.traceparent, span);
  }

  find(traceparent: string): RequestSpan | undefined {
    const span = this.#slots[slotOf(traceparent)];
    if (span?.traceparent === traceparent) return span;
    return this.#others.size === 0 ? undefined : this.#others.get(traceparent);
  }

  /** Finds it for the last time. */
  take(traceparent: string): RequestSpan | undefined {
    const span = this.find(traceparent);
    if (span === undefined) return undefined;
    const slot = slotOf(traceparent);
    if (this.#slots[slot] === span) this.#slots[slot] = undefined;
    else this.#others.delete(traceparent);
    return span;
  }
}

/** By three hexadecimal digits of the span's id. */
function slotOf(traceparent: string): number {
  return (digitAt(traceparent, 49) << 8) | (digitAt(traceparent, 50) << 4) | digitAt(traceparent, 51);
}

function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code & 0xf) + (code > 0x39 ? 9 : 0);
}

/** The spans of requests. */
export class RequestSpans {
  readonly #tracing: Tracing;
  readonly #takesParents: boolean;
  /** They end with their requests, so they are as many as these. */
  readonly #open = new OpenSpans();

  constructor({ events }: Pick<Core, 'events'>, tracing: Tracing, takesParents: boolean) {
    this.#tracing = tracing;
    this.#takesParents = takesParents;
    events.on('request.served', (fact) => this.#served(fact));
  }

  /** Begins the span of a request. From now on the header names this span, and not that of the client. */
  readonly begin = (req: IncomingMessage): string => {
    const { headers } = req;
    const given = headers['traceparent'];
    const parent = given === undefined || !this.#takesParents ? undefined : parseTraceparent(given);
    const { ids, clock } = this.#tracing;
    const own = ids.begin(parent);
    const traceparent = headerOf(own);
    headers['traceparent'] = traceparent;
    if (isRecorded(own)) this.#open.add(new RequestSpan(own, traceparent, parent, clock.now(), req.url ?? ''));
    return traceparent;
  };

  /** The span of a request under way that this header names; undefined if it has ended, or is not recorded. */
  find(traceparent: string): TraceParent | undefined {
    return this.#open.find(traceparent)?.own;
  }

  #served(fact: Served): void {
    const { traceparent } = fact;
    const span = traceparent === undefined ? undefined : this.#open.take(traceparent);
    if (span === undefined) return;
    this.#tracing.note(span.end(fact));
  }
}
