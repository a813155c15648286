// The large bodies of bodies.ts: what a client may send, honest or not, and what holds up a server that takes a step over all of it at once.

/** One request. */
export interface BodyCase {
  readonly path: string;
  /** The token of the workspace, the key of an application, or one with a list of models or a cap. */
  readonly as: 'token' | 'key' | 'listed' | 'capped';
  readonly method?: 'PUT';
  body(): string;
}

const MIB = 1024 * 1024;
const CHAT = '/v1/chat/completions';
const PNG = 'iVBORw0KGgoA';
const HI = [{ role: 'user', content: 'hi' }];
const PROVIDERS = ['openai', 'anthropic', 'google', 'bedrock', 'ollama'] as const;
/** Those that no protocol of a client reaches as it is sent. */
const TRANSLATED = ['anthropic', 'google', 'bedrock', 'ollama'] as const;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const base64 = (bytes: number): string => PNG.repeat(Math.floor(bytes / PNG.length));
const role = (index: number): string => (index % 2 === 0 ? 'user' : 'assistant');
const fields = (count: number, name: string): Record<string, number> => Object.fromEntries(times(count, (index) => [`${name}${index}`, 1]));
const image = (bytes: number) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${base64(bytes)}` } });
const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'read', arguments: args } });
const schema = (count: number) => ({ type: 'object', properties: Object.fromEntries(times(count, (index) => [`p${index}`, { type: 'string' }])) });

/** Bodies of Chat Completions by name: what stands beside the model. */
const CHATS: Readonly<Record<string, () => object>> = {
  image: () => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, image(30 * MIB)] }] }),
  images: () => ({ messages: [{ role: 'user', content: times(15, () => image(2 * MIB)) }] }),
  pdf: () => ({
    messages: [
      { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,JVBER${'AAAA'.repeat(7 * MIB)}` } }] },
    ],
  }),
  prose: () => ({ messages: [{ role: 'user', content: 'It is "so".\n'.repeat(2 * MIB) }] }),
  escapes: () => ({ messages: [{ role: 'user', content: '\n"\\'.repeat(5_000_000) }] }),
  accents: () => ({ messages: [{ role: 'user', content: 'é'.repeat(7_500_000) }] }),
  emoji: () => ({ messages: [{ role: 'user', content: 'é😀'.repeat(5_000_000) }] }),
  texts: () => ({ messages: times(3000, (index) => ({ role: role(index), content: `text ${index} `.repeat(900) })) }),
  messages: () => ({ messages: times(20_000, (index) => ({ role: role(index), content: `text ${index} `.repeat(120) })) }),
  tinyMessages: () => ({ messages: times(20_000, (index) => ({ role: role(index), content: 'hi' })) }),
  tooManyMessages: () => ({ messages: times(70_000, (index) => ({ role: role(index), content: 'hi' })) }),
  users: () => ({ messages: times(20_000, () => ({ role: 'user', content: 'hi' })) }),
  systems: () => ({ messages: [...times(19_999, () => ({ role: 'system', content: 'hi' })), ...HI] }),
  parts: () => ({ messages: times(900, () => ({ role: 'user', content: times(100, () => ({ type: 'text', text: 'x' })) })) }),
  agent: () => ({
    messages: [
      ...HI,
      ...times(4000, (index) => [
        { role: 'assistant', content: null, tool_calls: [call(`c${index}`, JSON.stringify({ path: `/a/${index}` }))] },
        { role: 'tool', tool_call_id: `c${index}`, content: '  const x = "y";\n'.repeat(250) },
      ]).flat(),
    ],
  }),
  calls: () => ({
    messages: [
      ...HI,
      ...times(80, (step) => [
        { role: 'assistant', content: null, tool_calls: times(250, (index) => call(`c${step}.${index}`, '{}')) },
        ...times(250, (index) => ({ role: 'tool', tool_call_id: `c${step}.${249 - index}`, content: 'r' })),
      ]).flat(),
    ],
  }),
  tools: () => ({
    messages: HI,
    tools: times(100, (index) => ({
      type: 'function',
      function: { name: `f${index}`, description: 'd'.repeat(50_000), parameters: { ...schema(300), description: 'w'.repeat(50_000) } },
    })),
  }),
  manyTools: () => ({ messages: HI, tools: times(1000, (index) => ({ type: 'function', function: { name: `t${index}`, parameters: schema(45) } })) }),
  toolArguments: () => ({
    messages: [
      ...HI,
      { role: 'assistant', content: null, tool_calls: [call('c', `{"a":[${'1,'.repeat(99_000)}1]}`)] },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
    ],
  }),
  longArguments: () => ({
    messages: [
      ...HI,
      { role: 'assistant', content: null, tool_calls: [call('c', JSON.stringify({ a: 'const x = 1;\n'.repeat(570_000) }))] },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
    ],
  }),
  manyArguments: () => ({
    messages: [
      ...HI,
      ...times(3000, (index) => [
        { role: 'assistant', content: null, tool_calls: [call(`c${index}`, JSON.stringify({ path: 'a', text: '  const x = {"y": [1, 2]};\n'.repeat(80) }))] },
        { role: 'tool', tool_call_id: `c${index}`, content: 'ok' },
      ]).flat(),
    ],
  }),
  deepArguments: () => ({
    messages: [
      ...HI,
      { role: 'assistant', content: null, tool_calls: [call('c', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)] },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
    ],
  }),
  wideFields: () => ({ messages: HI, ...fields(9_000, 'field_unknown_') }),
  wideMetadata: () => ({ messages: HI, metadata: fields(10_000, 'm') }),
  schema: () => ({ messages: HI, response_format: { type: 'json_schema', json_schema: { name: 'x', schema: schema(9_000) } } }),
  metadata: () => ({ messages: HI, metadata: fields(290_000, 'm') }),
  unknownFields: () => ({ messages: HI, ...fields(290_000, 'field_unknown_') }),
  nestedFields: () => ({ messages: HI, extra: times(2900, () => fields(99, 'x_')) }),
  longName: () => ({ messages: HI, ['k'.repeat(30 * MIB)]: 1 }),
  longNameWithin: () => ({ messages: [{ ...HI[0], ['k'.repeat(30 * MIB)]: 1 }] }),
  longModel: () => ({ messages: HI, model: `openai/${'A'.repeat(30 * MIB)}` }),
  stop: () => ({ messages: HI, stop: times(290_000, (index) => `s${index}`) }),
  numbers: () => ({ messages: HI, logit_bias: times(290_000, (index) => index) }),
  refused: () => ({ messages: times(290_000, (index) => index) }),
};
const AS: Readonly<Record<string, BodyCase['as']>> = {
  unknownFields: 'listed',
  wideFields: 'listed',
  wideMetadata: 'listed',
  nestedFields: 'listed',
  metadata: 'key',
  longName: 'key',
  longNameWithin: 'listed',
  manyTools: 'listed',
  agent: 'listed',
};

function chats(group: 'chat' | 'capped'): [string, BodyCase][] {
  return Object.entries(CHATS).flatMap(([kind, make]) =>
    PROVIDERS.map((provider): [string, BodyCase] => {
      const body = (): string => JSON.stringify({ model: `${provider}/m`, ...make() });
      return [`${group}.${kind}.${provider}`, { path: CHAT, as: group === 'capped' ? 'capped' : (AS[kind] ?? 'token'), body }];
    }),
  );
}

const OTHERS: Readonly<Record<string, BodyCase>> = {
  'chat.blanks.openai': { path: CHAT, as: 'key', body: () => `{"model":"openai/m",${' '.repeat(30 * MIB)}"messages":[{"role":"user","content":"x"}]}` },
  'chat.longNumber.openai': {
    path: CHAT,
    as: 'key',
    body: () => `{"model":"openai/m","messages":[{"role":"user","content":"x"}],"x":[${'1'.repeat(29 * MIB)}]}`,
  },
  'chat.twice.openai': {
    path: CHAT,
    as: 'key',
    body: () => `{"model":"openai/m","messages":[{"role":"user","content":"x"}]${',"model":"openai/m"'.repeat(140_000)}}`,
  },
  'chat.streamed.anthropic': { path: CHAT, as: 'key', body: () => JSON.stringify({ model: 'anthropic/m', stream: true, ...CHATS['agent']?.() }) },
};

const ANTHROPIC_CHATS: Readonly<Record<string, () => object>> = {
  image: () => ({ messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64(30 * MIB) } }] }] }),
  prose: () => ({ messages: [{ role: 'user', content: 'It is "so".\n'.repeat(2 * MIB) }] }),
  messages: () => ({ messages: times(20_000, (index) => ({ role: role(index), content: 'text' })) }),
  blocks: () => ({ messages: times(20_000, (index) => ({ role: role(index), content: [{ type: 'text', text: 'x' }] })) }),
  thinking: () => ({
    messages: [...HI, { role: 'assistant', content: times(70_000, () => ({ type: 'thinking', thinking: 'x', signature: 'AAAA' })) }, ...HI],
  }),
  agent: () => ({
    messages: [
      ...HI,
      ...times(4000, (index) => [
        { role: 'assistant', content: [{ type: 'tool_use', id: `c${index}`, name: 'read', input: { path: `/a/${index}` } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${index}`, content: '  const x = "y";\n'.repeat(250) }] },
      ]).flat(),
    ],
  }),
};
const RESPONSES: Readonly<Record<string, () => object>> = {
  items: () => ({ input: times(20_000, () => ({ role: 'user', content: 'x' })) }),
  outputs: () => ({ input: times(20_000, (index) => ({ type: 'function_call_output', call_id: `c${index}`, output: 'x' })) }),
  calls: () => ({
    input: times(10_000, (index) => [
      { type: 'function_call', call_id: `c${index}`, name: 'x', arguments: '{"path":"a"}' },
      { type: 'function_call_output', call_id: `c${index}`, output: 'x' },
    ]).flat(),
  }),
  reasoning: () => ({ input: [...HI, ...times(3000, (index) => ({ type: 'reasoning', id: `r${index}`, summary: [], encrypted_content: 'A'.repeat(9000) }))] }),
  image: () => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${base64(30 * MIB)}` }] }] }),
  instructions: () => ({ input: 'hi', instructions: 'It is so. '.repeat(3 * MIB) }),
};
const OLLAMA: Readonly<Record<string, () => object>> = {
  messages: () => ({ messages: times(20_000, () => ({ role: 'user', content: 'x' })) }),
  image: () => ({ messages: [{ role: 'user', content: 'x', images: [base64(30 * MIB)] }] }),
  toolCalls: () => ({
    messages: [
      ...HI,
      ...times(4000, (index) => [
        { role: 'assistant', content: '', tool_calls: [{ function: { name: 'x', arguments: { index } } }] },
        { role: 'tool', content: 'r' },
      ]).flat(),
    ],
  }),
};

function inDialect(
  name: string,
  path: string,
  bodies: Readonly<Record<string, () => object>>,
  providers: readonly string[],
  further: object = {},
): [string, BodyCase][] {
  return Object.entries(bodies).flatMap(([kind, make]) =>
    providers.map((provider): [string, BodyCase] => [
      `${name}.${kind}.${provider}`,
      { path, as: 'token', body: () => JSON.stringify({ model: `${provider}/m`, ...further, ...make() }) },
    ]),
  );
}

const EMBEDDINGS: Readonly<Record<string, () => object>> = {
  text: () => ({ input: 'It is so. '.repeat(3 * MIB) }),
  texts: () => ({ input: times(100_000, (index) => `text ${index}`) }),
  fewTexts: () => ({ input: times(2000, (index) => `text ${index} `.repeat(1000)) }),
  accents: () => ({ input: times(2000, () => 'é'.repeat(3500)) }),
  ids: () => ({ input: times(2000, () => times(140, (index) => index * 37)) }),
  numbers: () => ({ input: times(290_000, (index) => index) }),
};

const BLOCKHOUSE: Readonly<Record<string, () => object>> = {
  messages: () => ({ messages: times(16_000, (index) => ({ role: role(index), content: 'hi' })) }),
  accents: () => ({ messages: [{ role: 'user', content: 'é'.repeat(5_000_000) }] }),
  image: () => ({ messages: [{ role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: base64(9 * MIB) }] }] }),
  unknownFields: () => ({ messages: HI, ...fields(49_000, 'mesages') }),
  longName: () => ({ messages: HI, ['k'.repeat(9 * MIB)]: 1 }),
};

/** Every case by its name. */
export const BODY_CASES: ReadonlyMap<string, BodyCase> = new Map([
  ...chats('chat'),
  ...chats('capped'),
  ...Object.entries(OTHERS),
  ...inDialect('messages', '/v1/messages', ANTHROPIC_CHATS, ['openai', 'anthropic', 'google'], { max_tokens: 5 }),
  ...inDialect('count', '/v1/messages/count_tokens', ANTHROPIC_CHATS, ['openai', 'anthropic']),
  ...inDialect('responses', '/v1/responses', RESPONSES, ['openai', 'anthropic', 'ollama']),
  ...inDialect('ollama', '/ollama/api/chat', OLLAMA, ['openai', 'ollama', 'google']),
  ...inDialect('embeddings', '/v1/embeddings', EMBEDDINGS, ['openai', 'ollama', 'google']),
  ...Object.entries(BLOCKHOUSE).flatMap(([kind, make]) =>
    TRANSLATED.slice(0, 2).map((adapter): [string, BodyCase] => [
      `blockhouse.${kind}.${adapter}`,
      { path: '/v1/chat', as: 'token', body: () => JSON.stringify({ adapter, model: 'm', ...make() }) },
    ]),
  ),
  ['block.post', { path: '/api/blocks/x/chat', as: 'token', body: () => JSON.stringify({ content: 'é'.repeat(500_000) }) }],
  ['block.config', { path: '/api/blocks/x/config', as: 'token', method: 'PUT', body: () => JSON.stringify(fields(49_000, 'f')) }],
]);
