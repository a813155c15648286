// The requests to models: each as a bar of waiting, of the time to its first text, and of its answer.
import type { Signal } from '@preact/signals';
import type { GatewayRequest, GatewayRequests } from '../../../../core/types.ts';
import { clockSeconds, count, duration, NONE } from '../../base/format.ts';
import { endRequest } from '../../data/gateway.ts';
import { blockPath, pathOf } from '../../data/route.ts';
import { navigate } from '../../base/address.ts';
import { Segments } from '../../parts/fields.tsx';
import { Table } from '../../parts/table.tsx';
import { Button, Empty } from '../../parts/widgets.tsx';
import { gatewayText, LABELS, scaleText } from '../../text/index.ts';

const MAX_SHOWN = 100;

type Group = 'live' | 'ended' | 'failed';

interface RequestsProps {
  readonly requests: GatewayRequests;
  readonly shown: Signal<Group>;
  reload(): Promise<void>;
}

const LEGEND = [
  ['wait', gatewayText.waits],
  ['first', gatewayText.toFirst],
  ['text', gatewayText.streams],
] as const;

/** The list, by what is shown of it. */
export function Requests({ requests: { live, ended }, shown, reload }: RequestsProps) {
  const failed = ended.filter(({ code }) => code !== undefined && code !== 'CANCELLED');
  const groups: Readonly<Record<Group, readonly GatewayRequest[]>> = { live, ended, failed };
  const option = (id: Group) =>
    [
      id,
      <>
        {gatewayText[id]} <span class="num">{count(groups[id].length)}</span>
      </>,
    ] as const;
  return (
    <section class="requests">
      <header class="row wrap">
        <h2>{LABELS.requests}</h2>
        {LEGEND.map(([tone, label]) => (
          <span key={tone} class="legend">
            <i class={tone} />
            {label}
          </span>
        ))}
        <span class="grow" />
        <Segments
          label={LABELS.show}
          options={[option('live'), option('ended'), option('failed')]}
          value={shown.value}
          choose={(id) => {
            shown.value = id;
          }}
        />
      </header>
      <Rows list={groups[shown.value]} none={shown.value === 'live' ? gatewayText.noLive : gatewayText.noEnded} reload={reload} />
    </section>
  );
}

function Rows({ list, none, reload }: { readonly list: readonly GatewayRequest[]; readonly none: string; reload(): Promise<void> }) {
  const first = list.slice(0, MAX_SHOWN);
  const scale = Math.max(2, Math.ceil(Math.max(0, ...first.map(({ durationMs }) => durationMs)) / 1000));
  if (list.length === 0) return <Empty text={none} />;
  return (
    <Table
      heads={[
        gatewayText.began,
        [gatewayText.request, 'wide'],
        LABELS.model,
        gatewayText.for,
        [scaleText(scale), 'timeline'],
        [gatewayText.soFar, 'end'],
        [gatewayText.tokensShort, 'end'],
        [<span class="sr">{LABELS.end}</span>],
      ]}
    >
      {first.map((request) => (
        <RequestRow key={`${request.requestId} ${request.startedAt}`} request={request} scaleMs={scale * 1000} reload={reload} />
      ))}
    </Table>
  );
}

function RequestRow({ request, scaleMs, reload }: { readonly request: GatewayRequest; readonly scaleMs: number; reload(): Promise<void> }) {
  const { requestId, startedAt, model, adapter, block, key, phase, durationMs, usage, code } = request;
  const to = pathOf('gateway', { request: requestId });
  return (
    <tr
      class="opens"
      onClick={({ target }) => {
        if ((target as Element).closest('a, button') === null) navigate(to);
      }}
    >
      <td class="num">
        <a class="link" href={to}>
          {clockSeconds(startedAt)}
        </a>
      </td>
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
