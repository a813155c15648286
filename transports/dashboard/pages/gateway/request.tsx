// One request: the models that were asked, each attempt with its cause, and what was sent and answered if its key is debugged.
//
// text-alone: bodies are what programs and models have written, so they are shown as text.
import { clock, clockSeconds, duration } from '../../base/format.ts';
import { usePoll } from '../../base/poll.ts';
import { turnOfEvents } from '../../data/events.ts';
import { type BodiesOfRequest, type CallOfRequest, readable, readRequest, stretchesOf } from '../../data/gateway.ts';
import { useLoad } from '../../data/load.ts';
import { blockPath, pathOf } from '../../data/route.ts';
import { Copy, Empty, Problem } from '../../parts/widgets.tsx';
import {
  attemptCountText,
  costOfCall,
  gatewayText,
  endOfAttemptText,
  requestText,
  sizeText,
  stateOfCall,
  timesOfAttemptText,
  tokensOfCall,
} from '../../text/index.ts';

const EVERY_MS = 1000;

/** The page of the request with this id. */
export function RequestPage({ id }: { readonly id: string }) {
  const { state, reload } = useLoad(() => readRequest(id), [id]);
  // One that is under way changes without an event.
  usePoll(reload, EVERY_MS, [id], () => (state.peek().data?.calls.some(({ phase }) => phase !== 'ended') === true ? {} : turnOfEvents()));
  const { data, error } = state.value;
  return (
    <div class="page request">
      <header class="row wrap">
        <a class="link" href={pathOf('gateway')}>
          {requestText.back}
        </a>
        <h2 class="num break">{id}</h2>
        {data !== undefined && <span class="t3">{attemptCountText(data.calls)}</span>}
      </header>
      {error !== undefined && <Problem error={error} />}
      {data?.calls.map((call) => (
        <Call key={`${call.startedAt} ${call.adapter}`} call={call} />
      ))}
      {data !== undefined && data.calls.length === 0 && <Empty text={requestText.refused} />}
      {data !== undefined &&
        (data.bodies.length > 0 ? data.bodies.map((each) => <Bodies key={each.at} of={each} />) : <p class="t3">{requestText.noBodies}</p>)}
    </div>
  );
}

function Call({ call }: { readonly call: CallOfRequest }) {
  const { asked, model, adapter, block, key, path, kind, credential, startedAt, queuedMs, firstTextMs, durationMs, code } = call;
  const facts = [
    [requestText.asked, asked],
    [requestText.called, `${adapter}/${model}`],
    [requestText.state, <span class={code === undefined ? '' : 'bad'}>{stateOfCall(call)}</span>],
    [
      requestText.by,
      block === undefined ? (
        (key ?? gatewayText.client)
      ) : (
        <a class="link" href={blockPath(block)}>
          {block}
        </a>
      ),
    ],
    [requestText.through, path === undefined ? undefined : `${path} (${kind})`],
    [requestText.credential, credential],
    [requestText.began, clockSeconds(startedAt)],
    [requestText.queued, duration(queuedMs)],
    [requestText.first, duration(firstTextMs)],
    [requestText.whole, duration(durationMs)],
    [requestText.tokens, tokensOfCall(call)],
    [requestText.cost, costOfCall(call)],
  ] as const;
  return (
    <section>
      <dl>
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd class="break">{value}</dd>
              </div>
            ),
        )}
      </dl>
      {call.attempts.length === 0 ? <Empty text={requestText.none} /> : <Attempts call={call} />}
    </section>
  );
}

function Attempts({ call }: { readonly call: CallOfRequest }) {
  const stretches = stretchesOf(call);
  return (
    <ol class="attempts">
      {call.attempts.map((attempt, index) => (
        <li key={index}>
          <span class={attempt.code === undefined ? '' : 'bad'}>
            {endOfAttemptText(attempt)} <span class="t3">{attempt.credential}</span>
          </span>
          <span class="bars" aria-hidden="true">
            {stretches[index]?.map(({ tone, width }) => (
              <i key={tone} class={tone} style={{ width: `${width}%` }} />
            ))}
          </span>
          <span class="num t2">{timesOfAttemptText(attempt, call.durationMs)}</span>
        </li>
      ))}
    </ol>
  );
}

/** text-alone. */
function Bodies({ of: { at, path, status, request, answer } }: { readonly of: BodiesOfRequest }) {
  const shown = [
    [requestText.sentBody, request],
    [requestText.answered, answer],
  ] as const;
  return (
    <section class="bodies">
      <h3>
        {requestText.bodies} <span class="t3 num">{`${clock(at)} · ${path} · ${status}`}</span>
      </h3>
      {shown.map(([name, body]) => (
        <div key={name}>
          <p class="row">
            {name} <span class="t3 num grow">{sizeText(body)}</span>
            <Copy text={body.text} />
          </p>
          <pre>{body.cut ? body.text : readable(body.text)}</pre>
        </div>
      ))}
    </section>
  );
}
