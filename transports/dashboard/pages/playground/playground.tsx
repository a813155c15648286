// One question to several models, side by side.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useKeys } from '../../base/keys.ts';
import { tell } from '../../base/toast.ts';
import { readConnections } from '../../data/connections.ts';
import { useLoad } from '../../data/load.ts';
import { Asked, curlOf, keepQuestion, keptQuestion, MAX_MODELS, type Question, type Request, requestOf, turnsAfter } from '../../data/playground.ts';
import type { ChatMessage } from '../../data/responses.ts';
import { Field, TextField } from '../../parts/fields.tsx';
import { ModelPicker } from '../../parts/model-picker.tsx';
import { Button, Copy, Empty } from '../../parts/widgets.tsx';
import { playText } from '../../text/index.ts';
import { AnswerColumn } from './answer.tsx';

interface Column {
  readonly model: string;
  readonly asked: Asked;
  readonly turns: readonly ChatMessage[];
}

/** What is asked, and the answers that were begun. */
function usePlayground() {
  const question = useSignal<Question>(keptQuestion());
  const columns = useSignal<readonly Column[]>([]);
  const wrong = useSignal('');
  const connections = useLoad(readConnections, []).state.value.data;
  const requestTo = (model: string, turns: readonly ChatMessage[]): Request =>
    requestOf(
      question.peek(),
      model,
      turns,
      connections?.map(({ name }) => name),
    );
  const stop = (): void => {
    for (const { asked } of columns.peek()) asked.stop();
  };
  useEffect(() => stop, []);
  const change = (more: Partial<Question>): void => {
    question.value = { ...question.peek(), ...more };
    keepQuestion(question.value);
  };
  const begin = (model: string, turns: readonly ChatMessage[]): Column => {
    const asked = new Asked(model, question.peek().schema.trim() !== '');
    void asked.run(requestTo(model, turns));
    return { model, asked, turns };
  };
  const ask = (): void => {
    const { message, models } = question.peek();
    const chosen = models.filter((model) => model.trim() !== '');
    try {
      if (message.trim() === '') throw new Error(playText.needMessage);
      for (const model of chosen) requestTo(model, []);
      stop();
      columns.value = chosen.map((model) => begin(model, []));
      wrong.value = chosen.length === 0 ? playText.modelHint : '';
    } catch (error) {
      wrong.value = (error as Error).message;
    }
  };
  const goOn = (column: Column, results: Readonly<Record<string, string>>): void => {
    const turns = [...column.turns, ...turnsAfter(column.asked.answer.peek(), results)];
    try {
      columns.value = columns.peek().map((each) => (each === column ? begin(column.model, turns) : each));
    } catch (error) {
      tell((error as Error).message);
    }
  };
  return { question, columns, wrong, change, ask, stop, goOn, requestTo };
}

/** The page. */
export default function Playground() {
  const play = usePlayground();
  const { question, columns, ask, goOn, requestTo } = play;
  useKeys([{ keys: 'mod+Enter', does: playText.ask, run: ask, inFields: true }]);
  const answers = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { top = 0 } = answers.current?.getBoundingClientRect() ?? {};
    if (columns.value.length > 0 && top > innerHeight / 2) answers.current?.scrollIntoView(); // on a phone they are below the form
  }, [columns.value]);
  return (
    <>
      <header class="top">
        <h1>{playText.title}</h1>
        <span class="t2 clip grow about">{playText.lead}</span>
        <Copy text={() => curlOf(location.origin, requestTo(question.peek().models[0] ?? '', []))} label={playText.curl} />
      </header>
      <div class="play">
        <Form {...play} />
        <div ref={answers} class="answers">
          {columns.value.length === 0 && <Empty text={playText.empty} />}
          {columns.value.map((column, index) => (
            <AnswerColumn key={index} asked={column.asked} goOn={(results) => goOn(column, results)} />
          ))}
        </div>
      </div>
    </>
  );
}

function Form({ question: { value: question }, columns, wrong, change, ask, stop }: ReturnType<typeof usePlayground>) {
  const isRunning = columns.value.some(({ asked }) => asked.isRunning.value);
  return (
    <form
      class="play-form"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <Models list={question.models} set={(models) => change({ models })} />
      <Area label={playText.system} value={question.system} set={(system) => change({ system })} />
      <Area label={playText.message} value={question.message} rows={5} set={(message) => change({ message })} />
      <details>
        <summary>{playText.settings}</summary>
        <div class="stack">
          <Line label={playText.maxTokens} value={question.maxTokens} set={(maxTokens) => change({ maxTokens })} />
          <Line label={playText.temperature} value={question.temperature} set={(temperature) => change({ temperature })} />
          <Area label={playText.tools} value={question.tools} rows={5} isCode set={(tools) => change({ tools })} />
          <Area label={playText.schema} value={question.schema} rows={5} isCode set={(schema) => change({ schema })} />
        </div>
      </details>
      {wrong.value !== '' && (
        <p class="bad" role="alert">
          {wrong.value}
        </p>
      )}
      <div class="row">
        <Button label={playText.ask} kind="primary" keys="mod+Enter" submit />
        {isRunning && <Button label={playText.stop} run={stop} />}
      </div>
    </form>
  );
}

function Models({ list, set }: { readonly list: readonly string[]; set(models: readonly string[]): void }) {
  return (
    <fieldset>
      <legend>{playText.models}</legend>
      {list.map((model, index) => (
        <div key={index} class="row">
          <ModelPicker
            label={`${playText.modelHint} ${index + 1}`}
            value={model}
            hasAliases
            set={(name) => set(list.map((each, place) => (place === index ? name : each)))}
          />
          {list.length > 1 && (
            <Button label={playText.removeModel} icon="close" iconOnly small kind="quiet" run={() => set(list.filter((_model, place) => place !== index))} />
          )}
        </div>
      ))}
      {list.length < MAX_MODELS && (
        <div>
          <Button label={playText.addModel} icon="plus" small kind="quiet" run={() => set([...list, ''])} />
        </div>
      )}
    </fieldset>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly rows?: number;
  readonly isCode?: boolean;
  set(value: string): void;
}

function Area({ label, value, rows = 3, isCode = false, set }: TextProps) {
  return (
    <Field label={label}>
      {(props) => (
        <textarea
          {...props}
          class={`input${isCode ? ' mono' : ''}`}
          rows={rows}
          spellcheck={!isCode}
          value={value}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

function Line(props: TextProps) {
  return <TextField {...props} input={{ inputMode: 'decimal', spellcheck: true }} />;
}
