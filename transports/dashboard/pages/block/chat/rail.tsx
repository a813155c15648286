// Beside the chat: what the block does now, what its model sees, what it has spent, its last call, and what follows when it fails.
import type { ComponentChildren } from 'preact';
import type { BlockDetails } from '../../../../../core/types.ts';
import { canCure, cure } from '../../../app/cure.ts';
import { count, duration, NONE, usd } from '../../../app/format.ts';
import { blockPath } from '../../../app/router.ts';
import { chatText, paceText, windowText } from '../../../app/text.ts';
import type { OpenBlock } from '../../../data/block.ts';
import { now } from '../../../data/clock.ts';
import type { Why } from '../../../data/cures.ts';
import { capReachedAt, windowOf } from '../../../data/window.ts';
import { Bar, Button } from '../../../parts/bits.tsx';

/** The rail of a wide page; on a phone a strip that opens. */
export function Rail({ block }: { readonly block: OpenBlock }) {
  const details = block.details.value;
  const why = block.why.value;
  if (details === undefined) return <aside class="rail" aria-label={chatText.about} />;
  const content = (
    <>
      {why !== undefined && <Now block={block.name} why={why} />}
      <Sees name={block.name} details={details} />
      <Budget name={block.name} details={details} />
      <LastCall details={details} />
      <Fallbacks details={details} />
    </>
  );
  return (
    <aside class="rail" aria-label={chatText.about}>
      <details class="narrow">
        <summary>
          <span class="clip grow">{why?.why}</span>
          <span class="num">{usd(details.costs.budget?.day.usd ?? 0)}</span>
        </summary>
        {content}
      </details>
      <div class="wide">{content}</div>
    </aside>
  );
}

function Part({
  title,
  link,
  children,
}: {
  readonly title: string;
  readonly link?: { readonly href: string; readonly label: string };
  readonly children: ComponentChildren;
}) {
  return (
    <section>
      <h2>
        {title}
        {link !== undefined && (
          <a class="link" href={link.href}>
            {link.label}
          </a>
        )}
      </h2>
      {children}
    </section>
  );
}

function Now({ block, why: { why, next, actions = [] } }: { readonly block: string; readonly why: Why }) {
  return (
    <Part title={chatText.now}>
      <p class="b">{why}</p>
      <p class="sm t2">{next}</p>
      <div class="row wrap">
        {actions.map((action) =>
          canCure(action) ? (
            <Button key={action.id} label={action.label} small run={() => cure(action, block)} />
          ) : (
            <span key={action.id} class="sm t2">
              {action.label}.
            </span>
          ),
        )}
      </div>
    </Part>
  );
}

/** Parts of the window with their colours, in the order of the bar. */
const PARTS = [
  { id: 'instructions', label: chatText.instructions, tone: 'w5' },
  { id: 'facts', label: chatText.facts, tone: 'w3' },
  { id: 'summary', label: chatText.summary, tone: 'w2' },
  { id: 'messages', label: chatText.messages, tone: 'w1' },
] as const;

/** The window as a bar; also at the top of the memory. */
export function WindowBar({ details }: { readonly details: BlockDetails }) {
  const parts = windowOf(details);
  const text = windowText(parts.total, parts.most);
  return (
    <>
      <div class="win" aria-hidden="true">
        {PARTS.map(({ id, tone }) => (
          <i key={id} class={tone} style={{ width: `${(parts[id] / Math.max(1, parts.most)) * 100}%` }} />
        ))}
        <b style={{ insetInlineStart: `${parts.threshold}%` }} />
      </div>
      <p class="num">
        {text.tokens} <span class="t3">{text.of}</span> <span class="t3">({parts.threshold} %)</span>
      </p>
      <dl class="parts">
        {PARTS.map(({ id, label, tone }) => (
          <div key={id}>
            <dt>
              <i class={tone} />
              {label}
            </dt>
            <dd class="num">{count(parts[id])}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Sees({ name, details }: { readonly name: string; readonly details: BlockDetails }) {
  return (
    <Part title={chatText.sees} link={{ href: blockPath(name, 'memory'), label: 'Memory' }}>
      <WindowBar details={details} />
    </Part>
  );
}

function Budget({ name, details: { config, costs } }: { readonly name: string; readonly details: BlockDetails }) {
  const { dailyUsd, monthlyUsd } = config.budget ?? {};
  const day = costs.budget?.day.usd ?? 0;
  const month = costs.budget?.month.usd ?? 0;
  const tone = costs.budget?.state === 'exceeded' ? 'bad' : costs.budget?.state === 'warn' ? 'warn' : '';
  const at = capReachedAt(day, dailyUsd, now.value, new Date(now.value).setUTCHours(0, 0, 0, 0));
  return (
    <Part title={chatText.budget} link={{ href: blockPath(name, 'costs'), label: 'Costs' }}>
      <Spent label={chatText.today} spent={day} cap={dailyUsd} tone={tone} />
      <Spent label={chatText.month} spent={month} cap={monthlyUsd} tone="" />
      {at !== undefined && <p class="sm warn">{paceText(at)}</p>}
    </Part>
  );
}

function Spent({
  label,
  spent,
  cap,
  tone,
}: {
  readonly label: string;
  readonly spent: number;
  readonly cap: number | null | undefined;
  readonly tone: '' | 'warn' | 'bad';
}) {
  return (
    <div class="spent">
      <p class="row sm">
        <span class="grow">{label}</span>
        <span class="num">
          {usd(spent)} <span class="t3">{cap === null || cap === undefined ? chatText.noCap : `of ${usd(cap)}`}</span>
        </span>
      </p>
      {cap !== null && cap !== undefined && <Bar part={spent} whole={cap} tone={tone} />}
    </div>
  );
}

function LastCall({ details: { costs } }: { readonly details: BlockDetails }) {
  const { lastCall } = costs;
  if (lastCall === null || lastCall === undefined) return null;
  const { model, ttftMs, latencyMs, usage, costUsd } = lastCall;
  return (
    <Part title={chatText.lastCall}>
      <dl class="kv">
        <dt>{chatText.model}</dt>
        <dd class="break">{model}</dd>
        <dt>{chatText.firstText}</dt>
        <dd class="num">{duration(ttftMs)}</dd>
        <dt>{chatText.whole}</dt>
        <dd class="num">{duration(latencyMs)}</dd>
        <dt>{chatText.tokens}</dt>
        <dd class="num">{usage === null || usage === undefined ? NONE : `${count(usage.inputTokens)} → ${count(usage.outputTokens)}`}</dd>
        <dt>{chatText.cost}</dt>
        <dd class="num">{usd(costUsd)}</dd>
      </dl>
    </Part>
  );
}

function Fallbacks({ details: { config } }: { readonly details: BlockDetails }) {
  const models = [config.adapter, ...(config.fallbacks ?? [])].flatMap((each) => (each === null || each === undefined ? [] : [each.model]));
  if (models.length < 2) return null;
  return (
    <Part title={chatText.ifItFails}>
      <p class="sm t2">{models.join(', then ')}</p>
    </Part>
  );
}
