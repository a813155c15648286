// What an answer has done on the way: its calls of tools, which unfold to the whole run; and the cards of the calls that a message waits for.
import { useState } from 'preact/hooks';
import type { ChatEntry, EntryStep } from '../../../../../core/types.ts';
import { now } from '../../../base/clock.ts';
import { clockSeconds, duration, usd } from '../../../base/format.ts';
import { approvals } from '../../../data/approvals.ts';
import { useLoad } from '../../../data/load.ts';
import { costOf, decidedOf, linesOfRun, type ModelLine, type Moment, type RunLine, readResult, readRun, type ToolLine, waitsNow } from '../../../data/run.ts';
import type { OpenBlock } from '../../../data/open-block.ts';
import { type RunningCall, running } from '../../../data/running.ts';
import { ApprovalCard } from '../../../parts/approval.tsx';
import { Arguments, Folded, Visible } from '../../../parts/hidden.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Mark } from '../../../parts/mark.tsx';
import { Button, Problem, Sum } from '../../../parts/widgets.tsx';
import { callOutcomeText, toolCallsText, chatText, decidedText, inText, outText, runText } from '../../../text/index.ts';

/** The calls that a message waits for, in its place in the conversation. */
export function Waits({ entry: { waitingFor = [] } }: { readonly entry: ChatEntry }) {
  return (
    <>
      {waitingFor.flatMap((id) => {
        const approval = approvals.value.get(id);
        return approval === undefined ? [] : [<ApprovalCard key={id} approval={approval} />];
      })}
    </>
  );
}

/** The calls of a message that run now. */
export function callsOf(block: string, messageId: string | undefined): readonly RunningCall[] {
  return running.value.filter((call) => call.block === block && call.messageId === messageId);
}

/** The calls that run now, each with the time since it was sent: below their message where no answer has begun. */
export function Running({ open, messageId }: { readonly open: OpenBlock; readonly messageId: string }) {
  return open.reply.value?.id === messageId ? null : <Calls list={callsOf(open.name, messageId)} />;
}

export function Calls({ list }: { readonly list: readonly RunningCall[] }) {
  return (
    <>
      {list.map(({ place, tool, at, said }) => (
        <span key={place} class="row acc sm">
          <Mark state="working" named={false} />
          {runText.calls}{' '}
          <span class="mono break">
            <Visible text={tool} />
          </span>
          {at !== undefined && <span class="num">{duration(Math.max(0, now.value - Date.parse(at)))}</span>}
          {said && (
            <span class="break t2">
              <Visible text={said} />
            </span>
          )}
        </span>
      ))}
    </>
  );
}

/** A line below an answer; calls that did not simply end well are named in it. */
export function Run({ block, entry: { steps = [], replyTo } }: { readonly block: string; readonly entry: ChatEntry }) {
  const [isOpen, setOpen] = useState(false);
  if (steps.length === 0 || replyTo === undefined) return null;
  const ms = steps.reduce((sum, step) => sum + (step.ms ?? 0), 0);
  return (
    <section class="steps">
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'chevron' : 'next'} small />
        {toolCallsText(steps.length)}
        <span class="num t3">{duration(ms)}</span>
      </button>
      {!isOpen && (
        <ul>
          {steps.filter(isNotable).map((step) => (
            <li key={step.call} class="row wrap sm">
              <span class="mono break">
                <Visible text={step.tool} />
              </span>
              <Outcome outcome={step.outcome} isError={step.isError} />
            </li>
          ))}
        </ul>
      )}
      {isOpen && <Timeline block={block} messageId={replyTo} />}
    </section>
  );
}

function isNotable({ outcome, isError }: EntryStep): boolean {
  return outcome !== 'done' || isError;
}

function Outcome({ outcome, isError }: { readonly outcome: string; readonly isError: boolean }) {
  const isGood = outcome === 'done' && !isError;
  return <span class={`chip outcome-of ${outcome === 'unknown' ? outcome : ''} ${isGood ? '' : 'warn'}`}>{callOutcomeText(outcome, isError)}</span>;
}

function Timeline({ block, messageId }: { readonly block: string; readonly messageId: string }) {
  const { state, reload } = useLoad(() => readRun(block, messageId), [block, messageId]);
  const { data, error } = state.value;
  if (error !== undefined)
    return (
      <Problem error={error}>
        <Button label={chatText.lookAgain} small run={reload} />
      </Problem>
    );
  const lines = linesOfRun(data?.records ?? []);
  const { usd: sum, uncounted } = costOf(lines);
  return (
    <>
      <ol class="run-line">
        {lines.map((line, index) => (
          <li key={index}>
            <Line block={block} messageId={messageId} line={line} />
          </li>
        ))}
      </ol>
      {data !== undefined && (
        <p class="num t2">
          {runText.total}: <Sum usd={sum} uncounted={uncounted} />
        </p>
      )}
    </>
  );
}

interface LineProps<T> {
  readonly block: string;
  readonly messageId: string;
  readonly line: T;
}

function Line({ line, ...of }: LineProps<RunLine>) {
  if (line.kind === 'tool') return <Tool {...of} line={line} />;
  if (line.kind === 'model') return <Model line={line} />;
  return (
    <p>
      <When at={line.at} /> {runText[line.kind]}
    </p>
  );
}

function When({ at }: { readonly at: string }) {
  return (
    <time class="num t3" dateTime={at}>
      {clockSeconds(at)}
    </time>
  );
}

function Model({ line: { at, model, answer } }: { readonly line: ModelLine }) {
  const usage = answer?.usage;
  const facts = [
    model,
    answer && duration(answer.latencyMs),
    usage && `${inText(usage.inputTokens)}, ${outText(usage.outputTokens)}`,
    answer?.costUsd != null && usd(answer.costUsd),
  ].filter(Boolean);
  return (
    <>
      <p class="row wrap">
        <When at={at} /> {runText.model} <span class="num t3">{facts.join(' · ')}</span>
      </p>
      {answer !== undefined && answer.calls.length > 0 && answer.text !== '' && (
        <p class="prose">
          <Folded text={answer.text} />
        </p>
      )}
    </>
  );
}

function Tool({ block, messageId, line }: LineProps<ToolLine>) {
  const { tool, at, moments, outcome, isError = false, ms, text = '', ref, tries, by } = line;
  const [whole, setWhole] = useState<string | undefined>();
  return (
    <>
      <p class="row wrap">
        {at !== undefined && <When at={at} />}
        <b class="b mono break">
          <Visible text={tool} />
        </b>
        {outcome === undefined ? <span class="chip">{waitsNow(line) ? runText.waits : runText.open}</span> : <Outcome outcome={outcome} isError={isError} />}
        <span class="num t3">
          {ms !== undefined && duration(ms)}
          {tries > 1 && ` · ${tries} ${runText.again}`}
          {by !== undefined && ` · ${runText.by} ${by}`}
        </span>
      </p>
      <Arguments of={line.arguments} />
      {moments.map((moment, index) => (
        <Way key={index} moment={moment} />
      ))}
      {text !== '' && (
        <div class="mono sm result">
          <Folded text={whole ?? text} />
        </div>
      )}
      {ref !== undefined && whole === undefined && (
        <Button label={runText.wholeResult} small run={async () => setWhole(await readResult(block, messageId, ref))} />
      )}
    </>
  );
}

/** What a server asks is its own words; what a person has answered stands below. */
function Way({ moment }: { readonly moment: Moment }) {
  if ('ask' in moment) {
    const { ask, decision } = moment;
    if (decision === undefined) return null;
    return (
      <>
        <p class="sm t2">
          {decidedText(decidedOf(ask, decision), false)}
          {decision.note !== undefined && (
            <>
              : <Visible text={decision.note} />
            </>
          )}
        </p>
        {Object.entries(decision.input ?? {}).map(([form, { content }]) => (
          <Arguments key={form} of={content ?? {}} />
        ))}
      </>
    );
  }
  return (
    <p class="sm t2">
      <When at={moment.at} /> {moment.t === 'task' ? runText.task : `${runText.asked}: `}
      {moment.t === 'input' && (
        <Visible
          text={Object.values(moment.requests)
            .map(({ message }) => message)
            .join(' ')}
        />
      )}
    </p>
  );
}
