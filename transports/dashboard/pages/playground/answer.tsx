// One model's answer, with its reasoning, its tools and what was left out.
import { useState } from 'preact/hooks';
import { ownOf } from '../../base/own.ts';
import type { Asked } from '../../data/playground.ts';
import { Field } from '../../parts/fields.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Button, Copy, Problem } from '../../parts/widgets.tsx';
import { answerFacts, playText } from '../../text/index.ts';

/** A column; `goOn` sends the results of the tools. */
export function AnswerColumn({ asked, goOn }: { readonly asked: Asked; goOn(results: Readonly<Record<string, string>>): void }) {
  const answer = asked.answer.value;
  const { model, text, reasoning, toolCalls, warnings, error, isRunning } = answer;
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  return (
    <article class="answer" aria-busy={isRunning}>
      <header class="row">
        {isRunning && <Mark state="working" named={false} />}
        <h2 class="clip grow">{model}</h2>
        <Copy text={text} iconOnly />
      </header>
      <div class="answer-body">
        {reasoning !== '' && (
          <details>
            <summary>{playText.thought}</summary>
            <p class="plain t2">{reasoning}</p>
          </details>
        )}
        <Markdown source={asked.isJson && text !== '' ? `\`\`\`json\n${text}${isRunning ? '' : '\n```'}` : text} />
        {toolCalls.map(({ id, name, arguments: given }) => (
          <section key={id} class="tool">
            <p>
              <b class="mono">{name}</b> <span class="t3">{playText.toolWants}</span>
            </p>
            <pre class="mono">{JSON.stringify(given, null, 2)}</pre>
            <Field label={playText.result}>
              {(props) => (
                <textarea
                  {...props}
                  class="input mono"
                  rows={2}
                  value={ownOf(results, id) ?? ''}
                  onInput={(event) => setResults({ ...results, [id]: event.currentTarget.value })}
                />
              )}
            </Field>
          </section>
        ))}
        {toolCalls.length > 0 && !isRunning && <Button label={playText.goOn} run={() => goOn(results)} />}
        {warnings.map(({ field, message }) => (
          <p key={field + message} class="warn sm row">
            <Icon name="warning" small />
            <span>
              {field}: {message}
            </span>
          </p>
        ))}
        {error !== undefined && <Problem error={error} />}
      </div>
      <footer class="meta num">
        {answerFacts(answer).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </footer>
    </article>
  );
}
