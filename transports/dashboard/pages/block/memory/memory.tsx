// What a block remembers: its window, its summary, its facts, and the summaries that were made.
import { useState } from 'preact/hooks';
import type { BlockMemory, Compaction, Fact } from '../../../../../core/types.ts';
import { count, NONE, usd } from '../../../base/format.ts';
import { compareLines } from '../../../base/lines.ts';
import { useReveal } from '../../../base/reveal.ts';
import { tell, tellFailure } from '../../../base/toast.ts';
import { useDetails } from '../../../data/details.ts';
import { call, post } from '../../../data/http.ts';
import type { Details } from '../../../data/open-block.ts';
import { blockURL } from '../../../data/paths.ts';
import { route } from '../../../data/route.ts';
import { Field } from '../../../parts/fields.tsx';
import { Table } from '../../../parts/table.tsx';
import { Ago, Button, Problem } from '../../../parts/widgets.tsx';
import { beforeAfter, compactionText, inWindow, memoryText, WORDS } from '../../../text/index.ts';
import { WindowBar } from '../window-bar.tsx';
import { OverTime } from './over-time.tsx';

/** The tab. */
export function Memory({ name }: { readonly name: string }) {
  const { state, reload } = useDetails(name);
  const { data, error } = state.value;
  const linked = route.value.query.get('at') ?? undefined;
  useReveal(linked && `memory-${linked}`, data !== undefined);
  return (
    <div class="page">
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && (
        <div class="memory">
          <div>
            <Seen name={name} details={data} reload={reload} />
            <OverTime name={name} details={data} />
            <Facts name={name} details={data} reload={reload} />
          </div>
          <div>
            <Summary details={data} />
            <Compactions details={data} />
          </div>
        </div>
      )}
    </div>
  );
}

interface PartProps {
  readonly name: string;
  readonly details: Details;
  reload(): Promise<void>;
}

function Seen({ name, details, reload }: PartProps) {
  const last = details.memory.compactions.findLast(({ outcome }) => outcome !== 'failed');
  const canUndo = last !== undefined && last.undone !== true;
  return (
    <section>
      <h2>{memoryText.window}</h2>
      <WindowBar details={details} />
      <p class="sm t2">{inWindow(details.memory.window.messages)}</p>
      <div class="row wrap">
        <Button
          label={memoryText.compactNow}
          run={async () => {
            const { memory } = await post<{ readonly memory: BlockMemory }>(blockURL(name, '/memory/compact'));
            tell(outcomeText(details, memory));
            await reload();
          }}
        />
        {canUndo && (
          <Button
            label={memoryText.undo}
            kind="quiet"
            run={async () => {
              await post(blockURL(name, '/memory/undo'));
              tell(memoryText.undone);
              await reload();
            }}
          />
        )}
      </div>
    </section>
  );
}

/** What the server has made of the wish: it keeps the newest messages whole, and a model may have failed. */
function outcomeText({ memory: before }: Details, after: BlockMemory): string {
  const newest = after.compactions.at(-1);
  if (newest === undefined || newest.at === before.compactions.at(-1)?.at) return memoryText.nothingOlder;
  return newest.outcome === 'failed' ? memoryText.notCompacted : memoryText.compacted;
}

function Facts({ name, details: { memory }, reload }: PartProps) {
  const [text, setText] = useState('');
  const [isPinned, setPinned] = useState(true);
  const add = async (fact: string, pinned: boolean): Promise<void> => {
    await post(blockURL(name, '/memory/facts'), { text: fact, pinned });
    await reload();
  };
  const drop = ({ id }: Fact): Promise<unknown> => call('DELETE', blockURL(name, `/memory/facts/${encodeURIComponent(id)}`));
  const remove = async (fact: Fact): Promise<void> => {
    await drop(fact);
    await reload();
    tell(memoryText.factRemoved, { label: WORDS.undo, run: () => void add(fact.text, fact.pinned).catch(tellFailure) });
  };
  /** Added first: when anything fails in between, the fact is there twice and not lost. */
  const repin = async (fact: Fact): Promise<void> => {
    await post(blockURL(name, '/memory/facts'), { text: fact.text, pinned: !fact.pinned });
    await drop(fact);
    await reload();
  };
  return (
    <section>
      <h2>{memoryText.facts}</h2>
      <p class="sm t2">{memory.facts.length === 0 ? memoryText.noFacts : memoryText.factsLead}</p>
      <ul class="facts-list">
        {memory.facts.map((fact) => (
          <li key={fact.id} id={`memory-${fact.id}`} class={fact.id === route.value.query.get('at') ? 'linked' : ''} tabIndex={-1}>
            <span class="grow break">{fact.text}</span>
            {!fact.pinned && <span class="chip">{memoryText.loose}</span>}
            <span class="t3 num">
              <Ago at={fact.createdAt} />
            </span>
            <Button label={fact.pinned ? memoryText.unpin : memoryText.pin} icon="pin" iconOnly small kind="quiet" run={() => repin(fact)} />
            <Button label={memoryText.remove} icon="trash" iconOnly small kind="quiet" run={() => remove(fact)} />
          </li>
        ))}
      </ul>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const fact = text.trim();
          if (fact === '') return;
          void add(fact, isPinned).then(() => setText(''), tellFailure);
        }}
      >
        <Field label={memoryText.addFact}>
          {(props) => <textarea {...props} class="input" rows={2} maxLength={10_000} value={text} onInput={(event) => setText(event.currentTarget.value)} />}
        </Field>
        <div class="row">
          <Button label={memoryText.add} submit disabled={text.trim() === ''} />
          <label class="check">
            <input type="checkbox" checked={isPinned} onChange={(event) => setPinned(event.currentTarget.checked)} />
            {memoryText.isPinned}
          </label>
        </div>
      </form>
    </section>
  );
}

const SIGNS = { added: '+ ', removed: '− ', same: '  ' } as const;

function Summary({ details: { memory } }: { readonly details: Details }) {
  const last = memory.compactions.findLast(({ outcome, undone }) => outcome !== 'failed' && undone !== true);
  const lines = compareLines(last?.previousSummary ?? '', memory.summary);
  return (
    <section>
      <h2>{memoryText.summary}</h2>
      {memory.summary === '' ? <p class="t2">{memoryText.noSummary}</p> : <p class="prose plain">{memory.summary}</p>}
      {last !== undefined && (
        <details>
          <summary>{memoryText.changed}</summary>
          <div class="compared mono">
            {lines.map(({ kind, text }, index) => (
              <p key={index} class={kind}>
                {SIGNS[kind]}
                {text}
              </p>
            ))}
          </div>
        </details>
      )}
    </section>
  );
}

function Compactions({ details: { memory } }: { readonly details: Details }) {
  const list = [...memory.compactions].reverse();
  return (
    <section>
      <h2>{memoryText.compactions}</h2>
      {list.length === 0 ? (
        <p class="t2">{memoryText.noCompactions}</p>
      ) : (
        <Table
          shape="plain-rows"
          heads={[memoryText.when, memoryText.why, [memoryText.messages, 'end'], [memoryText.tokens, 'end'], memoryText.model, [memoryText.cost, 'end']]}
        >
          {list.map((compaction) => (
            <CompactionRow key={compaction.id} compaction={compaction} />
          ))}
        </Table>
      )}
    </section>
  );
}

function CompactionRow({
  compaction: { at, trigger, outcome, messages, tokensBefore, tokensAfter, model, costUsd, undone },
}: {
  readonly compaction: Compaction;
}) {
  return (
    <tr>
      <td class="num t2">
        <Ago at={at} />
      </td>
      <td class={outcome === 'failed' ? 'bad' : ''}>{compactionText(trigger, outcome, undone === true)}</td>
      <td class="num end">{messages === undefined ? NONE : count(messages)}</td>
      <td class="num end">{beforeAfter(tokensBefore, tokensAfter)}</td>
      <td class="t2">{model}</td>
      <td class="num end">{usd(costUsd)}</td>
    </tr>
  );
}
