// The spans of requests.
//
// no-text: an attribute of a span has ids, names, counts and times, and no word of a prompt or an answer, nor a key.
// own-parents: what belongs to a request names its span by `traceparent` (core/base/traceparent.ts), and not by the request's id, which a client may use twice.
import type { IncomingMessage } from 'node:http';
import type { Attributes } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { parseTraceparent, type TraceParent, traceparentOf } from '../../core/base/traceparent.ts';
import { withoutTicket } from '../../core/base/url.ts';
import type { Core, CoreEvents } from '../../core/index.ts';
import { CONVENTION } from './attributes.ts';
import type { SpanClock } from './clock.ts';
import { isRecorded, type Noted, type SpanFactory } from './spans.ts';

/** What spans are made with. */
export interface Tracing {
  readonly clock: SpanClock;
  readonly factory: SpanFactory;
  /** Takes what has ended. */
  note(noted: Noted): void;
}

/** Clients may make up others. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
const MAX_PATH = 200;
const NO_ROUTE = 'none';

type Served = CoreEvents['request.served'];

/** One request. */
class RequestSpan implements Noted {
  readonly count = 1;
  readonly #factory: SpanFactory;
  readonly own: TraceParent;
  readonly #parent: TraceParent | undefined;
  readonly #from: number;
  readonly #url: string;
  #to = 0;
  #served: Served | undefined;

  constructor(factory: SpanFactory, own: TraceParent, parent: TraceParent | undefined, from: number, url: string) {
    this.#factory = factory;
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

  spans(): ReadableSpan[] {
    const { method = '', route = NO_ROUTE, status = 0, requestId = '' } = this.#served ?? {};
    const isKnown = METHODS.has(method);
    // Names are written out where each request makes them: computed ones take several times as long. A test holds them against the conventions.
    const attributes: Attributes = {
      'http.request.method': isKnown ? method : '_OTHER',
      'url.scheme': 'http',
      'url.path': withoutTicket(pathOf(this.#url)),
      'http.response.status_code': status,
      'blockhouse.request_id': requestId,
    };
    if (!isKnown) attributes[CONVENTION.originalMethod] = method;
    if (route !== NO_ROUTE) attributes[CONVENTION.route] = route;
    const verb = isKnown ? method : 'HTTP';
    const code = status >= 500 ? String(status) : undefined;
    const name = route === NO_ROUTE ? verb : `${verb} ${route}`;
    return [
      this.#factory.make({ name, kind: 'SERVER', own: this.own, parent: this.#parent, isRemote: true, from: this.#from, to: this.#to, attributes, code }),
    ];
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
    const { factory, clock } = this.#tracing;
    const own = factory.begin(parent);
    const traceparent = traceparentOf(own);
    headers['traceparent'] = traceparent;
    if (isRecorded(own)) this.#open.set(traceparent, new RequestSpan(factory, own, parent, clock.now(), req.url ?? ''));
    return traceparent;
  };

  /** The span of a request under way that this header names; undefined if it has ended, or is not recorded. */
  find(traceparent: string): TraceParent | undefined {
    return this.#open.get(traceparent)?.own;
  }

  #served(fact: Served): void {
    const span = fact.traceparent === undefined ? undefined : this.#open.get(fact.traceparent);
    if (span === undefined) return;
    this.#open.delete(fact.traceparent ?? '');
    this.#tracing.note(span.end(fact, this.#tracing.clock.now()));
  }
}
