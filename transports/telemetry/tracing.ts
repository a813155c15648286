// The spans of requests.
//
// no-text: an attribute of a span has ids, names, counts and times, and no word of a prompt or an answer, nor a key.
// own-parents: what belongs to a request names its span by `traceparent` (core/base/traceparent.ts), and not by the request's id, which a client may use twice.
import type { IncomingMessage } from 'node:http';
import { parseTraceparent, type TraceParent, traceparentOf } from '../../core/base/traceparent.ts';
import { withoutTicket } from '../../core/base/url.ts';
import type { Core, CoreEvents } from '../../core/index.ts';
import { KEY } from './attributes.ts';
import type { SpanClock } from './clock.ts';
import { Recent } from './recent.ts';
import { SharedAttributes, type SpanBatch } from './span-batch.ts';
import { isRecorded, type Noted, type SpanIds } from './spans.ts';

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
  readonly name: string;
  readonly code: string | undefined;
  readonly attributes: SharedAttributes;
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
  return { method, route, status, isPlain, name: hasRoute ? `${verb} ${route}` : verb, code: status >= 500 ? String(status) : undefined, attributes };
}

/** One request. */
class RequestSpan implements Noted {
  readonly count = 1;
  readonly isReady = true;
  readonly own: TraceParent;
  readonly #parent: TraceParent | undefined;
  readonly #from: number;
  readonly #url: string;
  #to = 0;
  #served: Served | undefined;

  constructor(own: TraceParent, parent: TraceParent | undefined, from: number, url: string) {
    this.own = own;
    this.#parent = parent;
    this.#from = from;
    this.#url = url;
  }

  end(served: Served, to: number): this {
    this.#served = served;
    this.#to = to;
    return this;
  }

  write(batch: SpanBatch): void {
    const served = this.#served as Served;
    const isPlain = this.#url === served.route;
    const { name, code, attributes } = likenessOf(served, isPlain);
    batch.begin({ name, kind: 'SERVER', own: this.own, parent: this.#parent, isRemote: true, from: this.#from, to: this.#to, code });
    batch.putAll(attributes);
    if (!isPlain) batch.put(KEY.path, withoutTicket(pathOf(this.#url)));
    batch.put(KEY.requestId, served.requestId);
    batch.end();
  }
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return url.slice(0, end < 0 ? MAX_PATH : Math.min(end, MAX_PATH));
}

/** The spans of requests. */
export class RequestSpans {
  readonly #tracing: Tracing;
  readonly #takesParents: boolean;
  /** By the `traceparent` of each. They end with their requests, so they are as many as these. */
  readonly #open = new Map<string, RequestSpan>();

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
    const traceparent = traceparentOf(own);
    headers['traceparent'] = traceparent;
    if (isRecorded(own)) this.#open.set(traceparent, new RequestSpan(own, parent, clock.now(), req.url ?? ''));
    return traceparent;
  };

  /** The span of a request under way that this header names; undefined if it has ended, or is not recorded. */
  find(traceparent: string): TraceParent | undefined {
    return this.#open.get(traceparent)?.own;
  }

  #served(fact: Served): void {
    const { traceparent } = fact;
    const span = traceparent === undefined ? undefined : this.#open.get(traceparent);
    if (traceparent === undefined || span === undefined) return;
    this.#open.delete(traceparent);
    this.#tracing.note(span.end(fact, this.#tracing.clock.now()));
  }
}
