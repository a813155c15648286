// Every field of every request that the official SDKs publish is in the tables that say what it decides, and so is every type of tool. A field that a new
// version of an SDK brings fails here until somebody has said what it decides.
import t, { type Test } from 'tap';
import type { RequestFields } from '../../core/index.ts';
import { MESSAGES_FIELDS } from '../../transports/http/dialects/anthropic/request-fields.ts';
import { OLLAMA_FIELDS } from '../../transports/http/dialects/ollama/request-fields.ts';
import { CHAT_FIELDS } from '../../transports/http/dialects/openai-chat/request-fields.ts';
import { COMPLETION_FIELDS } from '../../transports/http/dialects/openai-completions/request-fields.ts';
import { EMBEDDINGS_FIELDS } from '../../transports/http/dialects/openai-embeddings/request-fields.ts';
import { RESPONSES_FIELDS } from '../../transports/http/dialects/openai-responses/request-fields.ts';
import { complaintsAbout, importOf } from './typed.ts';

interface Published {
  /** The module and the type in it. */
  readonly from: string;
  readonly type: string;
  readonly fields: RequestFields;
  /** Parameters that the SDK sends as headers, which are not in a body. */
  readonly headers?: readonly string[];
}

const ANTHROPIC_HEADERS = ['betas', 'user_profile_id', 'workspace_id'];
const REQUESTS: readonly Published[] = [
  { from: 'openai/resources/chat/completions', type: 'ChatCompletionCreateParams', fields: CHAT_FIELDS },
  { from: 'openai/resources/completions', type: 'CompletionCreateParams', fields: COMPLETION_FIELDS },
  { from: 'openai/resources/responses/responses', type: 'ResponseCreateParams', fields: RESPONSES_FIELDS },
  { from: 'openai/resources/beta/responses/responses', type: 'ResponseCreateParams', fields: RESPONSES_FIELDS, headers: ['betas'] },
  { from: 'openai/resources/embeddings', type: 'EmbeddingCreateParams', fields: EMBEDDINGS_FIELDS },
  { from: '@anthropic-ai/sdk/resources/messages/messages', type: 'MessageCreateParams', fields: MESSAGES_FIELDS, headers: ANTHROPIC_HEADERS },
  { from: '@anthropic-ai/sdk/resources/messages/messages', type: 'MessageCountTokensParams', fields: MESSAGES_FIELDS, headers: ANTHROPIC_HEADERS },
  { from: '@anthropic-ai/sdk/resources/beta/messages/messages', type: 'MessageCreateParams', fields: MESSAGES_FIELDS, headers: ANTHROPIC_HEADERS },
  { from: '@anthropic-ai/sdk/resources/beta/messages/messages', type: 'MessageCountTokensParams', fields: MESSAGES_FIELDS, headers: ANTHROPIC_HEADERS },
  ...['ChatRequest', 'GenerateRequest', 'EmbedRequest', 'EmbeddingsRequest'].map((type) => ({ from: 'ollama/dist/browser', type, fields: OLLAMA_FIELDS })),
];

/** Types of tools that the provider runs for money, or that have a model of their own. */
const RUN_BY_OPENAI = ['file_search', 'web_search*', 'mcp', 'code_interpreter', 'programmatic_tool_calling', 'image_generation', 'shell'];
const RUN_BY_ANTHROPIC = ['web_search_*', 'web_fetch_*', 'code_execution_*', 'advisor_*', 'mcp_toolset'];
const LISTS: readonly (Pick<Question, 'from' | 'type' | 'each'> & { readonly field: RequestFields[string] | undefined; readonly others: readonly string[] })[] =
  [
    { from: 'openai/resources/chat/completions', type: 'ChatCompletionTool', field: CHAT_FIELDS['tools'], others: [] },
    { from: 'openai/resources/responses/responses', type: 'Tool', field: RESPONSES_FIELDS['tools'], others: RUN_BY_OPENAI },
    { from: 'openai/resources/beta/responses/responses', type: 'BetaTool', field: RESPONSES_FIELDS['tools'], others: RUN_BY_OPENAI },
    { from: '@anthropic-ai/sdk/resources/messages/messages', type: 'ToolUnion', field: MESSAGES_FIELDS['tools'], others: RUN_BY_ANTHROPIC },
    { from: '@anthropic-ai/sdk/resources/beta/messages/messages', type: 'BetaToolUnion', field: MESSAGES_FIELDS['tools'], others: RUN_BY_ANTHROPIC },
    {
      from: '@anthropic-ai/sdk/resources/beta/messages/messages',
      type: 'BetaContextManagementConfig',
      each: 'T extends { edits?: (infer E)[] } ? E : never',
      field: MESSAGES_FIELDS['context_management'],
      others: ['compact_*'],
    },
  ];

const typesIn = (field: RequestFields[string] | undefined): readonly string[] => (typeof field === 'object' ? (field.types ?? []) : []);
/** In a type: any characters. */
const ANY = ['$', '{string}'].join('');
/** A union of string literals; * stands for any characters. */
const union = (names: readonly string[]): string => names.map((name) => `\`${name.split('*').join(ANY)}\``).join(' | ') || 'never';

interface Question {
  readonly from: string;
  readonly type: string;
  /** The names in one `T` of the union that the type is, or of the union that `each` makes of it. */
  readonly namesOf: string;
  readonly each?: string | undefined;
  readonly known: readonly string[];
}

const questionOf = ({ from, type, fields, headers = [] }: Published): Question => ({
  from,
  type,
  namesOf: 'keyof T',
  known: [...Object.keys(fields), ...headers],
});

const TYPES: readonly Question[] = LISTS.map(({ from, type, each, field, others }) => ({
  from,
  type,
  each,
  namesOf: "T extends { type?: infer N } ? N : 'an object without a type'",
  known: [...typesIn(field), ...others],
}));

const { service_tier: _tier, ...FIELDS_BUT_ONE } = CHAT_FIELDS;
const ASKED = {
  fields: REQUESTS.map(questionOf),
  types: TYPES,
  withoutField: [questionOf({ ...(REQUESTS[0] as Published), fields: FIELDS_BUT_ONE })],
  withoutTypes: [{ ...(TYPES[1] as Question), known: typesIn(RESPONSES_FIELDS['tools']) }],
  withoutAny: [...REQUESTS.map(questionOf), ...TYPES].map((question) => ({ ...question, known: [] })),
};

/** By question; all are in one program, because the compiler then reads the types of the SDKs once. */
let complaints: Promise<ReadonlyMap<Question, readonly string[]>> | undefined;

async function complaintsOfAll(t: Test): Promise<ReadonlyMap<Question, readonly string[]>> {
  const questions: readonly Question[] = Object.values(ASKED).flat();
  const lines = questions.flatMap(({ from, type, namesOf, each = 'T', known }, index) => [
    importOf(from, [`${type} as Type${index}`]),
    `type Each${index}<T> = ${each};`,
    `type Names${index}<T> = T extends unknown ? ${namesOf} : never;`,
    `export const none${index}: never = null as unknown as Exclude<Names${index}<Each${index}<Type${index}>>, ${union(known)} | null | undefined>;`,
  ]);
  const found = new Map<Question, string[]>();
  for (const { line, text } of await complaintsAbout(t, lines)) {
    const question = questions[Math.ceil(line / 4) - 1];
    if (question === undefined) throw new Error(text);
    found.set(question, [...(found.get(question) ?? []), `${question.type}: ${text}`]);
  }
  return found;
}

/** What the published types have and the tables don't, with the type that has it. */
async function unclassified(t: Test, questions: readonly Question[]): Promise<string[]> {
  complaints ??= complaintsOfAll(t);
  const found = await complaints;
  return questions.flatMap((question) => found.get(question) ?? []);
}

t.test('every field of a published request is in its table', async (t) => {
  t.same(await unclassified(t, ASKED.fields), []);
});

t.test('every type of a published tool, and of an edit of the context, is known', async (t) => {
  t.same(await unclassified(t, ASKED.types), []);
  for (const { field, others } of LISTS) t.notOk(typesIn(field).some((type) => others.includes(type)));
});

t.test('a field and a type that nobody has classified are named, whatever the request', async (t) => {
  const [missing = ''] = await unclassified(t, ASKED.withoutField);
  t.match(missing, /^ChatCompletionCreateParams: .*Type '"service_tier"' is not assignable/);
  const [tool = ''] = await unclassified(t, ASKED.withoutTypes);
  t.match(tool, /^Tool: .*"image_generation"/);
  t.same(
    (await unclassified(t, ASKED.withoutAny)).map((text) => text.split(':')[0]),
    ASKED.withoutAny.map(({ type }) => type),
  );
});
