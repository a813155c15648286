// Blocks, their states and their figures as text. Pure: no I/O.
import type { BlockDetails, BlockEntry, BlockState, Explanation } from '../../core/index.ts';
import { count, money, plural, relative, UNKNOWN } from '../terminal/format.ts';
import { type Cell, type Column, fit, table } from '../terminal/layout.ts';
import { folded, manyLines, oneLine, type Paint, type Style } from '../terminal/output.ts';

/** How a text is to be drawn. */
export interface View {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Columns; Infinity for no limit. */
  readonly width: number;
  readonly style: Style;
}

const RUNNING: readonly BlockState[] = ['idle', 'working', 'compacting'];
const RESTING: readonly BlockState[] = ['stopped', 'unconfigured'];

/** A mark and the state: `!` needs a person, `●` runs, `○` does not, `◐` waits or is in between. */
export function stateCell({ state, attention }: Pick<BlockEntry, 'state' | 'attention'>, style: Style): { text: string; paint: Paint } {
  if (attention || state === 'failed') return { text: `! ${state}`, paint: state === 'failed' ? style.bad : style.warn };
  if (RUNNING.includes(state)) return { text: `● ${state}`, paint: style.good };
  if (RESTING.includes(state)) return { text: `○ ${state}`, paint: style.dim };
  return { text: `◐ ${state}`, paint: style.warn };
}

const LIST: readonly Column[] = [
  { title: 'NAME', min: 32 },
  { title: 'STATE' },
  { title: 'MODEL', min: 14, drop: 3 },
  { title: 'QUEUE', align: 'right', drop: 1 },
  { title: 'FAILED', align: 'right', drop: 2 },
  { title: 'TODAY', align: 'right', drop: 4 },
  { title: 'LAST', drop: 5 },
];

/** `provider/model`, or `-` for none. */
export function modelOf(adapter: { readonly provider: string; readonly model: string } | null | undefined): string {
  return adapter == null ? UNKNOWN : `${adapter.provider}/${adapter.model}`;
}

/** The table of `ls`. */
export function blockTable(blocks: readonly BlockEntry[], { now, ...view }: View): string[] {
  const rows = blocks.map((block): Cell[] => [
    block.name,
    stateCell(block, view.style),
    modelOf(block.config.adapter),
    // Of a block whose files can't be read, nothing was counted.
    block.configError === undefined ? count(block.queue) : UNKNOWN,
    block.configError !== undefined ? UNKNOWN : block.failures.count === 0 ? '0' : { text: count(block.failures.count), paint: view.style.bad },
    money(block.costs.today),
    relative(block.lastMessageAt, now),
  ]);
  return table(LIST, rows, view);
}

/** A line for each block that needs a person or has failed messages, and a command that explains more. `command` makes a command to paste. */
export function attentionLines(blocks: readonly BlockEntry[], width: number, command: (...words: string[]) => string): string[] {
  const needy = blocks.filter(({ attention, status, failures }) => attention || status === 'ERROR' || failures.count > 0);
  if (needy.length === 0) return [];
  const lines = needy.map((block) => fit(oneLine(`! ${block.name}: ${needOf(block)}`), width));
  const isDamaged = needy.some(({ configError }) => configError !== undefined);
  const more = isDamaged ? command('doctor') : command('why', needy.length === 1 ? (needy[0]?.name ?? '') : '<block>');
  return [...lines, `\`${more}\` says what to do.`];
}

/** What is wrong with the block itself, or else with its failed messages. */
function needOf({ attention, status, state, configError, pulse, failures: { count, last } }: BlockEntry): string {
  if (attention || status === 'ERROR') return configError ?? pulse.error ?? state;
  return `${plural(count, 'message')} failed: ${last?.message ?? state}`;
}

/** How a text is to be drawn that may be as wide as it is. */
type Drawn = Omit<View, 'width'> & {
  readonly width?: number;
  /** Makes the commands in a sentence those of this person. */
  own?(text: string): string;
};

const LABEL = 10;

function facts(rows: readonly (readonly [label: string, value: string | undefined])[], view: Drawn): string[] {
  const { own = (text) => text } = view;
  return rows.filter(([, value]) => value !== undefined && value !== '').flatMap(([label, value]) => labelled(label, own(value ?? ''), view));
}

/** A command is never broken, because it is copied. */
function labelled(label: string, value: string, { style, width = Number.POSITIVE_INFINITY }: Drawn): string[] {
  const text = oneLine(value);
  const [first = '', ...more] = label === 'Fix' ? [text] : folded(text, width - LABEL);
  return [`${style.dim(label.padEnd(LABEL - 1))} ${first}`, ...more.map((line) => ' '.repeat(LABEL) + line)];
}

/** The number of calls, and the money where all prices are known. */
function costText({ calls, totalCost, budget }: BlockDetails['costs']): string {
  if (calls === 0) return 'no calls yet';
  return totalCost === null ? `${plural(calls, 'call')}, price unknown` : `${money(totalCost)} in ${plural(calls, 'call')}; today ${money(budget.day.usd)}`;
}

/** The text of `show`. */
export function blockText({ name, config, memory, costs, pulse }: BlockDetails, view: Drawn): string[] {
  const { now, style } = view;
  const state = stateCell(pulse, style);
  const { budget } = config;
  const caps = [
    ['a day', money(budget.dailyUsd), budget.dailyUsd],
    ['a month', money(budget.monthlyUsd), budget.monthlyUsd],
    ['tokens a day', count(budget.dailyTokens ?? 0), budget.dailyTokens],
  ].filter(([, , cap]) => cap !== null);
  const { queue } = pulse;
  const isInMoney = budget.dailyUsd !== null || budget.monthlyUsd !== null;
  const unheld =
    isInMoney && costs.unpricedCalls > 0
      ? `; the price of ${plural(costs.unpricedCalls, 'call')} is unknown, so they do not count towards the caps in USD`
      : '';
  return [
    `${style.bold(oneLine(name))}  ${state.paint(state.text)}`,
    ...(config.description === '' ? [] : [oneLine(config.description)]),
    '',
    ...facts(
      [
        ['Why', pulse.reason?.message],
        ['Fix', pulse.reason?.fix ?? undefined],
        ['Model', modelOf(config.adapter) + config.fallbacks.map((other) => `, else ${modelOf(other)}`).join('')],
        ['Queue', `${count(queue.queued + queue.processing)} waiting, ${count(queue.failed)} failed`],
        ['Last', pulse.lastRun === null ? undefined : `reply ended ${relative(pulse.lastRun, now)}`],
        ['Next', pulse.nextWakeUp === null ? undefined : relative(pulse.nextWakeUp, now)],
        ['Memory', `${memory.window.percent} % of ${count(memory.window.maxTokens)} tokens, ${plural(memory.facts.length, 'fact')}`],
        ['Cost', costText(costs)],
        ['Budget', caps.length === 0 ? undefined : `${caps.map(([unit, text]) => `${text} ${unit}`).join(', ')} (${costs.budget.state}${unheld})`],
        ['Goals', config.goals.join('; ')],
        ['Tags', config.tags.join(', ')],
        ['Config', `revision ${config.rev}, changed ${relative(config.updatedAt, now)}`],
      ],
      view,
    ),
  ];
}

/** The text of `why`. */
export function whyText(explanation: Explanation, view: Drawn): string[] {
  const { now, style } = view;
  const state = stateCell(explanation, style);
  const since = explanation.since === null ? '' : style.dim(`, ${relative(explanation.since, now)}`);
  return [
    `${style.bold(oneLine(explanation.name))}  ${state.paint(state.text)}${since}`,
    '',
    ...facts(
      [
        ['Why', explanation.why],
        ['Next', explanation.next],
        ['Failed', explanation.failed ?? undefined],
        ...(explanation.notes ?? []).map((note): [string, string] => ['Note', note]),
        ['Fix', explanation.fix ?? undefined],
      ],
      view,
    ),
    ...explanation.lastTransitions
      .slice(-5)
      .flatMap(({ at, from, to, cause, actor }, index) =>
        labelled(index === 0 ? 'Before' : '', `${relative(at, now)}: ${from} → ${to} (${cause}, by ${actor})`, view),
      ),
  ];
}

/** The text of `memory`. */
export function memoryText({ memory }: BlockDetails, view: Drawn): string[] {
  const { now, style } = view;
  const { window, compactions, compactionCount } = memory;
  const last = compactions.at(-1);
  return [
    ...facts(
      [
        ['Window', `${plural(window.messages, 'message')}, ${count(window.tokens)} of ${count(window.maxTokens)} tokens (${window.percent} %)`],
        ['Compacted', `${plural(compactionCount, 'time')}${last === undefined ? '' : `, last ${relative(last.at, now)}: ${last.outcome}`}`],
        ['Facts', memory.facts.length === 0 ? 'none' : plural(memory.facts.length, 'fact')],
      ],
      view,
    ),
    ...memory.facts.map(({ id, text, pinned }) => `  ${style.dim(oneLine(id))}  ${oneLine(text)}${pinned ? '' : style.dim(' (not pinned)')}`),
    ...(memory.summary === '' ? [] : ['', style.dim('Summary'), ...manyLines(memory.summary).trimEnd().split('\n')]),
  ];
}
