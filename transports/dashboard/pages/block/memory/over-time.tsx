// The window over time: what the model has seen for each answer, with the compactions as marks.
//
// also-as-text: the plot has a sentence, and its values as a table.
import { useState } from 'preact/hooks';
import { now } from '../../../base/clock.ts';
import { count, short } from '../../../base/format.ts';
import { useKeys } from '../../../base/keys.ts';
import type { Details } from '../../../data/open-block.ts';
import { useSeen } from '../../../data/seen.ts';
import { type Mark, marksOf, type Seen } from '../../../data/window.ts';
import { Table } from '../../../parts/table.tsx';
import { Button, Problem } from '../../../parts/widgets.tsx';
import { compactedText, memoryText, momentText, overTimeText, seenText } from '../../../text/index.ts';

/** One answer makes no line. */
const MIN_ANSWERS = 2;
/** Room above the highest value. */
const HEADROOM = 16 / 15;
/** The units of the drawing, which is stretched to its place. */
const SIZE = 1000;

/** The plot, or its table. */
export function OverTime({ name, details }: { readonly name: string; readonly details: Details }) {
  const { config, memory } = details;
  const { answers, error } = useSeen(name, details).value;
  const [isTable, setTable] = useState(false);
  useKeys([{ keys: 't', does: memoryText.asTable, run: () => setTable((is) => !is) }]);
  const marks = marksOf(answers, memory.compactions);
  const limit = (memory.window.maxTokens * config.memory.thresholdPercent) / 100;
  return (
    <section>
      <div class="row wrap">
        <h3 class="grow">{memoryText.overTime}</h3>
        {answers.length >= MIN_ANSWERS && (
          <Button label={isTable ? memoryText.asPlot : memoryText.asTable} small kind="quiet" keys="t" run={() => setTable(!isTable)} />
        )}
      </div>
      {error !== undefined && <Problem error={error} />}
      {answers.length < MIN_ANSWERS && <p class="sm t2">{memoryText.tooFew}</p>}
      {answers.length >= MIN_ANSWERS && (isTable ? <AsTable answers={answers} marks={marks} /> : <Drawing answers={answers} marks={marks} limit={limit} />)}
    </section>
  );
}

interface DrawingProps {
  readonly answers: readonly Seen[];
  readonly marks: readonly Mark[];
  /** Tokens at which older messages are summarised. */
  readonly limit: number;
}

function Drawing({ answers, marks, limit }: DrawingProps) {
  const highest = Math.max(...answers.map(({ tokens }) => tokens));
  const isNear = limit <= highest * 2; // far above, it would press the line to the ground
  const top = Math.max(highest, isNear ? limit : 0) * HEADROOM;
  const x = (index: number): number => (index / (answers.length - 1)) * SIZE;
  const between = (index: number): number => Math.min(SIZE, x(index - 0.5)); // one after the last answer is at the edge
  const y = (tokens: number): number => SIZE - (tokens / top) * SIZE;
  const line = answers.map(({ tokens }, index) => `${index === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(tokens).toFixed(1)}`).join('');
  const step = SIZE / (answers.length - 1);
  return (
    <figure class="over-time">
      <div class="area">
        <svg viewBox={`0 0 ${SIZE} ${SIZE}`} preserveAspectRatio="none" role="img" aria-label={overTimeText(answers, marks.length)}>
          {[0.5, 1].map((part) => (
            <line key={part} class="grid" x1="0" x2={SIZE} y1={y((top * part) / HEADROOM)} y2={y((top * part) / HEADROOM)} />
          ))}
          <path class="under" d={`${line}L${SIZE} ${SIZE}L0 ${SIZE}Z`} />
          <path class="line" d={line} />
          {isNear && <line class="limit" x1="0" x2={SIZE} y1={y(limit)} y2={y(limit)} />}
          {marks.map(({ index, compaction }) => (
            <line key={compaction.id} class="mark" x1={between(index)} x2={between(index)} y1="0" y2={SIZE} />
          ))}
          {answers.map((answer, index) => (
            <rect key={answer.id} class="hit" x={x(index) - step / 2} width={step} y="0" height={SIZE}>
              <title>{seenText(answer)}</title>
            </rect>
          ))}
        </svg>
        <div class="y num" aria-hidden="true">
          <span>{short(Math.round(top / HEADROOM))}</span>
          <span>{short(Math.round(top / HEADROOM / 2))}</span>
          <span>0</span>
        </div>
        <div class="x num" aria-hidden="true">
          <span>{momentText(answers[0]?.at ?? '', now.value)}</span>
          <span>{momentText(answers[Math.floor(answers.length / 2)]?.at ?? '', now.value)}</span>
          <span>{momentText(answers.at(-1)?.at ?? '', now.value)}</span>
        </div>
      </div>
      <div class="row wrap">
        <span class="legend">
          <i class="seen" />
          {memoryText.seen}
        </span>
        {marks.length > 0 && (
          <span class="legend">
            <i class="mark" />
            {memoryText.mark}
          </span>
        )}
        {isNear && (
          <span class="legend">
            <i class="limit" />
            {memoryText.limit}
          </span>
        )}
      </div>
    </figure>
  );
}

/** Newest first, with the compactions between the answers. */
function AsTable({ answers, marks }: Omit<DrawingProps, 'limit'>) {
  const before = (index: number): readonly Mark[] => marks.filter((mark) => mark.index === index);
  const rows = [...answers.keys(), answers.length].reverse();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div class="plot-table" tabIndex={0} role="group" aria-label={memoryText.overTime}>
      <Table shape="plain-rows" heads={[memoryText.when, memoryText.model, [memoryText.tokens, 'end']]} isBare>
        {rows.flatMap((index) => [
          ...(answers[index] === undefined ? [] : [<AnswerRow key={answers[index].id} answer={answers[index]} />]),
          ...before(index).map(({ compaction }) => (
            <tr key={compaction.id}>
              <td class="num t2">{momentText(compaction.at, now.value)}</td>
              <td colSpan={2} class="t2">
                {compactedText(compaction.tokensBefore, compaction.tokensAfter)}
              </td>
            </tr>
          )),
        ])}
      </Table>
    </div>
  );
}

function AnswerRow({ answer: { at, model, tokens } }: { readonly answer: Seen }) {
  return (
    <tr>
      <td class="num t2">{momentText(at, now.value)}</td>
      <td>{model}</td>
      <td class="num end">{count(tokens)}</td>
    </tr>
  );
}
