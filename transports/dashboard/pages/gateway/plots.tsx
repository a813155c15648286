// The plots of the gateway: requests by provider, the time to the first text, and tokens, each with its figure.
//
// count-what-is-rare: where a rate would be that of one request or of a few, the plots count, and say how long a step is.
import type { ComponentProps } from 'preact';
import type { GatewayFigures } from '../../../../core/types.ts';
import { count, figure, NONE, short } from '../../base/format.ts';
import { isSparse, joined, overall, type Totals, totalsOf } from '../../data/totals.ts';
import { Plot, PlotGroup } from '../../parts/plot.tsx';
import { Empty } from '../../parts/widgets.tsx';
import { countText, gatewayText } from '../../text/index.ts';

/** The colours of the providers, in their fixed order. */
const TONES = ['c1', 'c2', 'c3', 'c4', 'c5'];

/** The plots of a window, or that nobody was called in it. */
export function Plots({ data }: { readonly data: GatewayFigures }) {
  const { times, called } = joined(data.adapters);
  if (called.length === 0) return <Empty text={gatewayText.noFigures} />;
  const toneOf = (id: string): string => TONES[data.adapters.findIndex((adapter) => adapter.id === id) % TONES.length] ?? 'c5';
  return (
    <PlotGroup times={times}>
      <div class="plots">
        {plotsOf(times, called, toneOf).map(({ title, value, ...plot }) => (
          <section key={title}>
            <h2>
              {title} <b class="num">{value}</b>
            </h2>
            <Plot times={times} show={figure} {...plot} />
          </section>
        ))}
      </div>
    </PlotGroup>
  );
}

interface Figure extends Omit<ComponentProps<typeof Plot>, 'times' | 'show'> {
  readonly title: string;
  readonly value: string;
  readonly show?: (value: number) => string;
}

function plotsOf(times: readonly number[], called: GatewayFigures['adapters'], toneOf: (id: string) => string): readonly Figure[] {
  const stepMs = times.length < 2 ? 60_000 : (times[1] ?? 0) - (times[0] ?? 0);
  const all = overall(called);
  const sum = totalsOf(called.flatMap(({ series }) => series));
  const isCounted = isSparse(all); // count-what-is-rare
  const counted = isCounted ? { isCounted, show: count } : {};
  const minutes = isCounted ? 1 : stepMs / 60_000;
  const spanMinutes = isCounted ? 1 : Math.max(1, minutes * times.length);
  const thousands = isCounted ? 1 : 1000;
  const line = (label: string, tone: string, pick: (totals: Totals) => number | null) => ({ label, tone, values: all.map(pick) });
  const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
  return [
    {
      ...counted,
      title: isCounted ? countText(gatewayText.activity, stepMs) : gatewayText.rate,
      value: figure(sum.requests / spanMinutes),
      lines: called.map(({ id, displayName, series }) => ({ label: displayName, tone: toneOf(id), values: series.map(({ requests }) => requests / minutes) })),
      stacked: true,
      sentence: `${count(sum.requests)} requests, ${count(sum.errors)} failed.`,
    },
    {
      title: gatewayText.seconds,
      value: inSeconds(sum.firstTextP50),
      lines: [
        line(gatewayText.median, 'c1', ({ firstTextP50 }) => seconds(firstTextP50)),
        line(gatewayText.p95, 'c4', ({ firstTextP95 }) => seconds(firstTextP95)),
      ],
      sentence: `Median ${inSeconds(sum.firstTextP50)} seconds to the first text.`,
    },
    {
      ...counted,
      title: isCounted ? countText(gatewayText.tokensShort, stepMs) : gatewayText.tokens,
      value: isCounted ? short(sum.input + sum.output) : figure((sum.input + sum.output) / spanMinutes / thousands),
      lines: [
        line(gatewayText.input, 'c2', ({ input }) => input / minutes / thousands),
        line(gatewayText.output, 'c3', ({ output }) => output / minutes / thousands),
      ],
      stacked: true,
      sentence: `${count(sum.input)} tokens in, ${count(sum.output)} out, ${count(sum.cached)} from the cache.`,
    },
  ];
}

/** `0.34`. */
function inSeconds(ms: number | null): string {
  return ms === null ? NONE : (ms / 1000).toFixed(2);
}
