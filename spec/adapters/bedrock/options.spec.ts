import t from 'tap';
import { AnswerBlocks } from '../../../adapters/bedrock/blocks.ts';
import { buildRequest } from '../../../adapters/bedrock/request.ts';
import type { BedrockRequest } from '../../../adapters/bedrock/schema.ts';
import type { Prompt } from '../../../core/index.ts';
import { CLAUDE, contextOf, LLAMA, NOVA } from './help.ts';

const HAIKU = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const TOOL = { name: 'f' };
const IMAGE = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
const SENT = { image: { format: 'png', source: { bytes: 'AAAA' } } };
const POINT = { cachePoint: { type: 'default' } };

function build(prompt: Partial<Prompt>, model = CLAUDE) {
  const { body, warnings } = buildRequest(contextOf(prompt, { model }));
  return { body: body as BedrockRequest, fields: warnings.map(({ field }) => field) };
}

t.test('sampling by model', async (t) => {
  const options = { topP: 0.5, topK: 3, stop: ['END'] };
  t.match(build({ options }, HAIKU).body, { inferenceConfig: { topP: 0.5, stopSequences: ['END'] }, additionalModelRequestFields: { top_k: 3 } });
  t.match(build({ options }, NOVA).body, { additionalModelRequestFields: { inferenceConfig: { topK: 3 } } });
  t.same(build({ options }, LLAMA).fields, ['config.topK']);
  t.same(build({ options }).fields.sort(), ['config.topK', 'config.topP']);
});

t.test('a Claude is asked which stop text ended its answer, as whole and streamed answers name it', async (t) => {
  const pathsOf = (stop: string[], model?: string) => build({ options: { stop } }, model).body.additionalModelResponseFieldPaths;
  t.same(pathsOf(['END', 'STOP']), ['/stop_sequence', '/delta/stop_sequence']);
  t.equal(pathsOf(['END', 'STOP'], LLAMA), undefined, 'others do not tell');
  t.equal(pathsOf([' ']), undefined, 'nothing that was sent can end it');
  t.equal(build({ options: { topK: 3 } }).body.additionalModelResponseFieldPaths, undefined);
});

t.test('tool choice, schema, tier and labels', async (t) => {
  t.same(build({ tools: [TOOL], options: { toolChoice: 'required' } }, NOVA).body.toolConfig?.toolChoice, { any: {} });
  t.same(build({ tools: [TOOL], options: { toolChoice: { name: 'f' } } }, HAIKU).body.toolConfig?.toolChoice, { tool: { name: 'f' } });
  t.same(build({ tools: [TOOL], options: { toolChoice: 'required' } }).fields, ['toolChoice']);
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } };
  const { body, fields } = build({ options: { output: { type: 'json_schema', schema, name: 'n' }, serviceTier: 'flex', metadata: { a: 'b' } } });
  t.same(fields, ['config.output']);
  t.match(body, {
    outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: /"description":"\{minimum: 1\}"/, name: 'n' } } } },
    serviceTier: { type: 'flex' },
    requestMetadata: { a: 'b' },
  });
  const plain = build({ options: { output: { type: 'json' } } });
  t.match(plain.body.system, [{ text: /JSON/ }]);
  t.same(plain.fields, ['config.output']);
});

t.test('labels that Bedrock would refuse are left out, and said so', async (t) => {
  const metadata = { user: 'a@b.example', tier: 'x:1', 'a key': '', json: '{"a":1}', long: 'x'.repeat(257), né: 'b' };
  const { body, fields } = build({ options: { metadata } });
  t.same(body.requestMetadata, { user: 'a@b.example', tier: 'x:1', 'a key': '' });
  t.same(fields, ['config.metadata']);
  const many = build({ options: { metadata: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, 'v'])) } });
  t.equal(Object.keys(many.body.requestMetadata ?? {}).length, 16);
  t.same(many.fields, ['config.metadata']);
  t.notOk('requestMetadata' in build({ options: { metadata: { json: '{}' } } }).body, 'an empty map is refused, too');
});

t.test('Nova gets the parameters of a tool in the form that it takes', async (t) => {
  const parameters = { $schema: 'x', type: 'object', properties: { a: { $ref: '#/$defs/A' } }, additionalProperties: false, $defs: { A: { type: 'string' } } };
  const { body, fields } = build({ tools: [{ name: 'f', parameters }] }, NOVA);
  t.match(body.toolConfig?.tools, [{ toolSpec: { inputSchema: { json: { type: 'object', properties: { a: { type: 'string' } } } } } }]);
  t.same(fields, ['tools[0].parameters']);
  t.match(build({ tools: [{ name: 'f', parameters }] }, HAIKU).body.toolConfig?.tools, [{ toolSpec: { inputSchema: { json: parameters } } }]);
});

t.test('tools that may not be called are not offered, unless the history has calls', async (t) => {
  const none = { tools: [TOOL], options: { toolChoice: 'none' } } as const;
  t.equal(build(none).body.toolConfig, undefined);
  t.same(build(none).fields, []);
  const turns: Prompt['turns'] = [
    { role: 'user', text: 'see' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'c', name: 'f', arguments: {} }] },
    { role: 'tool', results: [{ toolCallId: 'c', toolName: 'f', content: 'r', isError: false }] },
  ];
  t.equal(build({ ...none, turns }).body.toolConfig?.tools.length, 1);
  t.same(build({ ...none, turns }).fields, ['toolChoice']);
});

t.test('reasoning by family', async (t) => {
  t.same(build({ options: { reasoning: { effort: 'high' } } }).body.outputConfig, { effort: 'high' });
  t.same(build({ options: { reasoning: { effort: 'low' } } }, HAIKU).body.additionalModelRequestFields, { thinking: { type: 'enabled', budget_tokens: 2048 } });
  t.same(build({ options: { reasoning: { effort: 'max' } } }, 'openai.gpt-oss-20b-1:0').body.additionalModelRequestFields, { reasoning_effort: 'high' });
  t.same(build({ options: { reasoning: { effort: 'low' } } }, LLAMA).fields, ['config.reasoning.effort']);
});

t.test('images and documents, also in results; what Bedrock can’t take is refused', async (t) => {
  const pdf = { type: 'document', mediaType: 'application/pdf', data: 'AAAA', name: 'a_b.pdf' } as const;
  const { body } = build({ turns: [{ role: 'user', text: 'look', parts: [{ type: 'text', text: 'look', cache: '1h' }, IMAGE, pdf, pdf] }] });
  t.same(body.messages[0]?.content, [
    { text: 'look' },
    { cachePoint: { type: 'default', ttl: '1h' } },
    SENT,
    { document: { format: 'pdf', name: 'a-b-pdf', source: { bytes: 'AAAA' } } },
    { document: { format: 'pdf', name: 'a-b-pdf 2', source: { bytes: 'AAAA' } } },
  ]);
  const turns: Prompt['turns'] = [
    { role: 'user', text: 'see' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'c', name: 'f', arguments: {} }] },
    { role: 'tool', results: [{ toolCallId: 'c', toolName: 'f', content: '', isError: false, parts: [IMAGE] }] },
  ];
  t.match(build({ turns }).body.messages[2]?.content, [{ toolResult: { content: [SENT] } }]);
  for (const part of [
    { type: 'image', url: 'https://a.test/b.png' },
    { ...IMAGE, mediaType: 'image/tiff' },
  ] as const) {
    t.throws(() => build({ turns: [{ role: 'user', text: '', parts: [part] }] }), { code: 'INVALID_REQUEST' });
  }
});

t.test('no name of a document has two blanks in a row, also if it was cut at one', async (t) => {
  const pdf = { type: 'document', mediaType: 'application/pdf', data: 'AAAA', name: `${'x'.repeat(189)} y` } as const;
  const { body } = build({ turns: [{ role: 'user', text: 'look', parts: [{ type: 'text', text: 'look' }, pdf, pdf] }] });
  const names = body.messages[0]?.content.flatMap((block) => ('document' in block ? [block.document.name] : []));
  t.same(names, ['x'.repeat(189), `${'x'.repeat(189)} 2`]);
});

t.test('a failed result with an image says so in its text, since Claude takes text alone beside the status', async (t) => {
  const failed = (content: string): Prompt['turns'] => [
    { role: 'user', text: 'see' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'c', name: 'f', arguments: {} }] },
    { role: 'tool', results: [{ toolCallId: 'c', toolName: 'f', content, isError: true, parts: [{ type: 'text', text: content }, IMAGE] }] },
  ];
  const resultOf = (content: string) => build({ turns: failed(content) }).body.messages[2]?.content;
  t.same(resultOf('no page'), [{ toolResult: { toolUseId: 'c', content: [{ text: 'Error:' }, { text: 'no page' }, SENT] } }]);
  t.same(resultOf('Error: no page'), [{ toolResult: { toolUseId: 'c', content: [{ text: 'Error: no page' }, SENT] } }]);
});

t.test('a cache point stands behind a text where a document that is no PDF comes before it, since Bedrock refuses it there', async (t) => {
  const notes = { type: 'document', text: 'words', name: 'n' } as const;
  const DOCUMENT = { document: { format: 'txt', name: 'n', source: { bytes: 'd29yZHM=' } } };
  const END = { text: '(end of the document)' };
  const marked = build({
    turns: [
      {
        role: 'user',
        text: 'q',
        parts: [
          { ...notes, cache: '5m' },
          { type: 'text', text: 'q' },
        ],
      },
    ],
  });
  t.same(marked.body.messages[0]?.content, [DOCUMENT, END, POINT, { text: 'q' }]);
  const last = build({ cacheControl: true, turns: [{ role: 'user', text: 'q', parts: [{ type: 'text', text: 'q' }, notes] }] });
  t.same(last.body.messages[0]?.content, [{ text: 'q' }, DOCUMENT], 'the text would be gone with the next turn, and what was cached with it');
  const plain = build({ turns: [{ role: 'user', text: 'q', parts: [{ type: 'text', text: 'q' }, notes] }] });
  t.same(plain.body.messages[0]?.content, [{ text: 'q' }, DOCUMENT]);
});

t.test('a document alone gets a text beside it, since Bedrock refuses it without one', async (t) => {
  const pdf = { type: 'document', mediaType: 'application/pdf', data: 'AAAA', name: 'a', cache: '5m' } as const;
  const DOCUMENT = { document: { format: 'pdf', name: 'a', source: { bytes: 'AAAA' } } };
  const alone = build({ turns: [{ role: 'user', text: '', parts: [pdf] }] }, HAIKU);
  t.same(alone.body.messages[0]?.content, [DOCUMENT, POINT, { text: '(see the document)' }]);
  t.same(alone.fields, ['messages']);
  const beside = build({
    turns: [
      { role: 'user', text: '', parts: [pdf] },
      { role: 'user', text: 'Well?' },
    ],
  });
  t.same(beside.body.messages[0]?.content, [DOCUMENT, POINT, { text: 'Well?' }]);
  t.same(beside.fields, []);
});

t.test('of more than four cache points the last ones stay; other models get none', async (t) => {
  const parts = ['1', '2', '3', '4'].map((text) => ({ type: 'text', text, cache: '5m' }) as const);
  const prompt: Partial<Prompt> = {
    turns: [{ role: 'user', text: 'x', parts }],
    tools: [{ name: 'f', cache: '5m' }],
    system: 's',
    systemParts: [{ text: 's', cache: '5m' }],
  };
  const { body } = build(prompt);
  t.equal(body.toolConfig?.tools.length, 1);
  t.same(body.system, [{ text: 's' }]);
  t.same(body.messages[0]?.content.filter((block) => 'cachePoint' in block).length, 4);
  const few = build({ ...prompt, turns: [{ role: 'user', text: 'hi' }] }).body;
  t.same(few.system, [{ text: 's' }, POINT]);
  t.same(few.toolConfig?.tools[1], POINT);
  t.same(build(prompt, LLAMA).body.messages[0]?.content.length, 4);
});

t.test('reasoning and calls leave while they are written', async (t) => {
  const blocks = new AnswerBlocks(contextOf());
  t.same(blocks.add(0, { reasoningContent: { text: 'hm' } }), [{ type: 'reasoning', text: 'hm' }]);
  t.same(blocks.open(1, { toolUse: { toolUseId: 'a', name: 'f' } }), [{ type: 'toolCallStart', index: 0, id: 'a', name: 'f' }]);
  t.same(blocks.add(1, { toolUse: { input: '{"b":1}' } }), [{ type: 'toolCallDelta', index: 0, text: '{"b":1}' }]);
  t.match(blocks.finish('tool_use'), [{ type: 'toolCall', index: 0, toolCall: { id: 'a', arguments: { b: 1 } } }]);
});
