// Beside the chat: what the block does now, what its model sees, what it has spent, and its last call.
import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { canCure, cure } from '../../../actions/cure.ts';
import { now, serverNow } from '../../../base/clock.ts';
import { clockSeconds, count, duration, fullTime, short, usd } from '../../../base/format.ts';
import { unpricedOf } from '../../../data/caps.ts';
import type { Why } from '../../../data/cures.ts';
import type { Details, OpenBlock } from '../../../data/open-block.ts';
import { blockPath } from '../../../data/route.ts';
import { capReachedAt, sinceMidnight } from '../../../data/window.ts';
import { Bar, Button, Sum, type Tone } from '../../../parts/widgets.tsx';
import { nextTryText, ofText, paceText, panelText } from '../../../text/block.ts';
import { nextText } from '../../../text/tools.ts';
import { AsModel } from './as-model.tsx';
import { WindowBar } from '../window-bar.tsx';
import { standsStill } from './why-card.tsx';

/** The panel; on a phone it is opened from the strip above the composer. */
export function SidePanel({ open, isOpen }: { readonly open: OpenBlock; readonly isOpen: boolean }) {
  const details = open.details.value;
  return (
    <aside class={`side-panel ${isOpen ? 'open' : ''}`} id="side-panel" aria-label={open.name}>
      <Now open={open} />
      {details !== undefined && (
        <>
          <Sees details={details} />
          <Budget details={details} />
          <LastCall details={details} />
          <Fallbacks details={details} />
          <AsModel name={open.name} />
        </>
      )}
    </aside>
  );
}

interface SectionProps {
  readonly title: string;
  readonly to?: string;
  readonly link?: string;
  readonly children: ComponentChildren;
}

function Section({ title, to, link, children }: SectionProps) {
  return (
    <section>
      <h2>
        {title}
        {to !== undefined && (
          <a class="link" href={to}>
            {link}
          </a>
        )}
      </h2>
      {children}
    </section>
  );
}

function Now({ open }: { readonly open: OpenBlock }) {
  const why = open.why.value;
  const isWriting = useComputed(() => open.reply.value?.phase === 'writing').value;
  if (why === undefined) return null;
  const actions = standsStill(why) ? [] : (why.actions ?? []).filter(canCure); // the card beside it has them
  return (
    <Section title={panelText.now}>
      {/* the server's sentence counts characters, and is not announced again with each character */}
      <p class="b break">{isWriting ? panelText.making : why.why}</p>
      <p class="sm t2 break">
        <Next open={open} why={why} />
      </p>
      {actions.length > 0 && (
        <p class="row wrap cures">
          {actions.map((action) => (
            <Button key={action.id} label={action.label} small run={() => cure(action, open.name)} />
          ))}
        </p>
      )}
    </Section>
  );
}

/** The server's sentence; a time that is near is counted down. */
function Next({ open, why: { state, next } }: { readonly open: OpenBlock; readonly why: Why }) {
  const at = open.details.value?.pulse.nextWakeUp;
  return <>{state === 'backoff' && at != null ? nextTryText(at, now.value) : nextText(next)}</>;
}

function Sees({ details }: { readonly details: Details }) {
  return (
    <Section title={panelText.sees} to={blockPath(details.name, 'memory')} link={panelText.memory}>
      <WindowBar details={details} />
    </Section>
  );
}

function Budget({ details }: { readonly details: Details }) {
  const { config, costs } = details;
  const { dailyUsd, monthlyUsd, dailyTokens, warnAt, timezone } = config.budget;
  const { day, month, state } = costs.budget;
  const at = serverNow();
  const reached = capReachedAt(day.usd, dailyUsd, sinceMidnight(at, timezone), at);
  const hasCap = dailyUsd !== null || monthlyUsd !== null || dailyTokens !== null;
  return (
    <Section title={panelText.budget} to={blockPath(details.name, 'costs')} link={panelText.costs}>
      <Spent
        label={panelText.today}
        spent={<Sum usd={day.usd} uncounted={unpricedOf(costs, day.key)} />}
        part={day.usd}
        cap={dailyUsd}
        capText={usd(dailyUsd)}
        warnAt={warnAt}
      />
      {monthlyUsd !== null && (
        <Spent
          label={panelText.month}
          spent={<Sum usd={month.usd} uncounted={unpricedOf(costs, month.key)} />}
          part={month.usd}
          cap={monthlyUsd}
          capText={usd(monthlyUsd)}
          warnAt={warnAt}
        />
      )}
      {dailyTokens !== null && (
        <Spent label={panelText.tokensToday} spent={short(day.tokens)} part={day.tokens} cap={dailyTokens} capText={short(dailyTokens)} warnAt={warnAt} />
      )}
      {!hasCap && <p class="sm t3">{panelText.noCap}</p>}
      {reached !== undefined && <p class={`sm ${state === 'ok' ? 't2' : 'warn'}`}>{paceText(reached)}</p>}
    </Section>
  );
}

interface SpentProps {
  readonly label: string;
  readonly spent: ComponentChildren;
  readonly part: number;
  readonly cap: number | null;
  readonly capText: string;
  readonly warnAt: number;
}

function Spent({ label, spent, part, cap, capText, warnAt }: SpentProps) {
  return (
    <div class="spent">
      <p class="row sm">
        <span class="grow">{label}</span>
        <span class="num">
          {spent} {cap !== null && <span class="t3">{ofText(capText)}</span>}
        </span>
      </p>
      {cap !== null && <Bar part={part} whole={cap} tone={capTone(part, cap, warnAt)} />}
    </div>
  );
}

function capTone(spent: number, cap: number | null, warnAt: number): Tone {
  if (cap === null) return '';
  if (spent >= cap) return 'bad';
  return spent >= cap * warnAt ? 'warn' : '';
}

function LastCall({ details }: { readonly details: Details }) {
  const call = details.costs.lastCall;
  if (call === null || call === undefined) {
    return (
      <Section title={panelText.last}>
        <p class="sm t3">{panelText.noCall}</p>
      </Section>
    );
  }
  const rows: readonly (readonly [string, string])[] = [
    [panelText.firstText, duration(call.ttftMs)],
    [panelText.whole, duration(call.latencyMs)],
    [panelText.tokens, call.usage === null || call.usage === undefined ? '–' : `${count(call.usage.inputTokens)} → ${count(call.usage.outputTokens)}`],
    [panelText.cost, call.costUsd === null || call.costUsd === undefined ? panelText.unpriced : usd(call.costUsd)],
  ];
  return (
    <Section title={panelText.last}>
      <dl class="kv">
        <dt>{panelText.model}</dt>
        <dd class="break">{call.model}</dd>
        {rows.map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} value`} class="num">
            {value}
          </dd>,
        ])}
        <dt>{panelText.at}</dt>
        <dd class="num" title={fullTime(call.at)}>
          {clockSeconds(call.at)}
        </dd>
      </dl>
    </Section>
  );
}

function Fallbacks({ details }: { readonly details: Details }) {
  const { adapter, fallbacks } = details.config;
  const models = [adapter, ...fallbacks].flatMap((each) => (each === null ? [] : [each.model]));
  return (
    <Section title={panelText.fails}>
      <p class="sm t2 break">{models.length < 2 ? panelText.noFallback : models.join(', then ')}</p>
    </Section>
  );
}

/** On a phone: the two figures that matter, and the way to the rest. */
export function Strip({ open, isOpen, toggle }: { readonly open: OpenBlock; readonly isOpen: boolean; readonly toggle: () => void }) {
  const details = open.details.value;
  if (details === undefined) return null;
  const { window } = details.memory;
  const { dailyUsd, warnAt } = details.config.budget;
  const { day } = details.costs.budget;
  const tone = capTone(day.usd, dailyUsd, warnAt);
  return (
    <button type="button" class="side-strip num" aria-expanded={isOpen} aria-controls="side-panel" onClick={toggle}>
      <span>
        {short(window.tokens)} {ofText(short(window.maxTokens))}
      </span>
      <Bar part={window.tokens} whole={window.maxTokens} />
      <span class={`${tone} end-part`}>
        <Sum usd={day.usd} uncounted={unpricedOf(details.costs, day.key)} /> {dailyUsd === null ? panelText.today : ofText(usd(dailyUsd))}
      </span>
      {dailyUsd !== null && <Bar part={day.usd} whole={dailyUsd} tone={tone} />}
    </button>
  );
}
