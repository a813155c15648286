// The requests to models: each as a bar of waiting, of the time to its first text, and of its answer.
import type { Signal } from '@preact/signals';
import type { GatewayRequest, GatewayRequests } from '../../../../core/types.ts';
import { clockSeconds, count, duration, NONE } from '../../base/format.ts';
import { endRequest } from '../../data/gateway.ts';
import { blockPath } from '../../data/route.ts';
import { Button, Empty } from '../../parts/widgets.tsx';
import { gatewayText, LABELS, scaleText } from '../../text/index.ts';

const MOST_SHOWN = 100;

interface RequestsProps {
  readonly requests: GatewayRequests;
  readonly shown: Signal<'live' | 'ended' | 'failed'>;
  reload(): Promise<void>;
}

/** The list, by what is shown of it. */
export function Requests({ requests: { live, ended }, shown, reload }: RequestsProps) {
  const failed = ended.filter(({ code }) => code !== undefined && code !== 'CANCELLED');
  const groups = [
    { id: 'live', label: gatewayText.live, list: live },
    { id: 'ended', label: gatewayText.ended, list: ended },
    { id: 'failed', label: gatewayText.failed, list: failed },
  ] as const;
  const list = groups.find(({ id }) => id === shown.value)?.list ?? [];
  const scale = Math.max(2, Math.ceil(Math.max(0, ...list.slice(0, MOST_SHOWN).map(({ durationMs }) => durationMs)) / 1000));
  return (
    <section class="requests">
      <header class="row wrap">
        <h2>{LABELS.requests}</h2>
        {[
          ['wait', gatewayText.waits],
          ['first', gatewayText.toFirst],
          ['text', gatewayText.streams],
        ].map(([tone, label]) => (
          <span key={tone} class="legend">
            <i class={tone} />
            {label}
          </span>
        ))}
        <span class="grow" />
        <div class="seg" role="group" aria-label={LABELS.show}>
          {groups.map(({ id, label, list: all }) => (
            <button
              key={id}
              type="button"
              aria-pressed={shown.value === id}
              onClick={() => {
                shown.value = id;
              }}
            >
              {label} <span class="num">{count(all.length)}</span>
            </button>
          ))}
        </div>
      </header>
      {list.length === 0 ? (
        <Empty text={shown.value === 'live' ? gatewayText.noLive : gatewayText.noEnded} />
      ) : (
        <div class="scroll">
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">{gatewayText.began}</th>
                <th scope="col" class="wide">
                  {gatewayText.request}
                </th>
                <th scope="col">{LABELS.model}</th>
                <th scope="col">{gatewayText.for}</th>
                <th scope="col" class="timeline">
                  {scaleText(scale)}
                </th>
                <th scope="col" class="end">
                  {gatewayText.soFar}
                </th>
                <th scope="col" class="end">
                  {gatewayText.tokensShort}
                </th>
                <th scope="col">
                  <span class="sr">{LABELS.end}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.slice(0, MOST_SHOWN).map((request) => (
                <RequestRow key={`${request.requestId} ${request.startedAt}`} request={request} scaleMs={scale * 1000} reload={reload} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function RequestRow({ request, scaleMs, reload }: { readonly request: GatewayRequest; readonly scaleMs: number; reload(): Promise<void> }) {
  const { requestId, startedAt, model, adapter, block, key, phase, durationMs, usage, code } = request;
  return (
    <tr>
      <td class="num t2">{clockSeconds(startedAt)}</td>
      <td class="num t3 wide">{requestId.slice(0, 12)}</td>
      <td>
        {model} <span class="t3">{adapter}</span>
      </td>
      <td>
        {block === undefined ? (
          <span class="t2">{key ?? gatewayText.client}</span>
        ) : (
          <a class="link" href={blockPath(block)}>
            {block}
          </a>
        )}
      </td>
      <td class="timeline">{code === undefined ? <Timeline request={request} scaleMs={scaleMs} /> : <span class="bad num">{code}</span>}</td>
      <td class="num end">{duration(durationMs)}</td>
      <td class="num end">{usage === null ? NONE : count(usage.outputTokens)}</td>
      <td class="end">
        {phase !== 'ended' && (
          <Button
            label={gatewayText.end}
            icon="close"
            iconOnly
            small
            kind="quiet"
            run={async () => {
              await endRequest(requestId);
              await reload();
            }}
          />
        )}
      </td>
    </tr>
  );
}

function Timeline({ request: { queuedMs, firstTextMs, durationMs, phase }, scaleMs }: { readonly request: GatewayRequest; readonly scaleMs: number }) {
  const placed = queuedMs ?? (phase === 'waiting' ? durationMs : 0);
  const first = firstTextMs ?? durationMs;
  const width = (ms: number): { width: string } => ({ width: `${Math.max(0, Math.min(100, (ms / scaleMs) * 100))}%` });
  return (
    <span class="bars" aria-hidden="true">
      <i class="wait" style={width(placed)} />
      <i class="first" style={width(Math.max(0, first - placed))} />
      <i class="text" style={width(Math.max(0, durationMs - first))} />
    </span>
  );
}
