// What the options of `chat` ask of the answer.
import { readFile } from 'node:fs/promises';
import type { ChatConfig, Reasoning } from '../../core/index.ts';
import { fileFault } from '../input/file-fault.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';

type Effort = NonNullable<Reasoning['effort']>;

/** The values of `--effort`. Written here because completions must not load the core. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[];

/** The options as they were given. */
export interface AnswerOptions {
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  /** Path of a file with a JSON Schema. */
  readonly schema: string | undefined;
  readonly effort: string | undefined;
}

/** One of these is in every schema that says anything. */
const SCHEMA_WORDS = ['type', 'properties', 'items', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', '$ref'];

/** The settings of the requests. Rejects with a CliError (`usage`) that names the option. */
export async function answerConfig({ maxTokens, temperature, schema, effort }: AnswerOptions): Promise<ChatConfig> {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(effort !== undefined && { reasoning: { effort: effortOf(effort) } }),
    ...(schema !== undefined && { output: { type: 'json_schema' as const, schema: await schemaIn(schema) } }),
  };
}

function effortOf(given: string): Effort {
  const effort = EFFORTS.find((word) => word === given);
  if (effort === undefined) throw new CliError('usage', `--effort must be one of ${EFFORTS.join(', ')}.`);
  return effort;
}

async function schemaIn(file: string): Promise<Record<string, unknown>> {
  const { parseFields } = await import('../input/config-edit.ts');
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CliError('usage', `--schema: ${oneLine(file)} ${oneLine(fileFault(error))}.`, error);
  });
  const schema = await parseFields(text, `--schema: ${oneLine(file)}`);
  if (SCHEMA_WORDS.some((word) => schema[word] !== undefined)) return schema;
  throw new CliError('usage', `--schema: ${oneLine(file)} is not a JSON Schema, because it has none of ${SCHEMA_WORDS.slice(0, -1).join(', ')} or $ref.`);
}
