import t from 'tap';
import type { Turn } from '../../../core/index.ts';
import {
  CUT,
  callPart,
  cutText,
  inputMessages,
  MAX_CONTENT_BYTES,
  outputMessages,
  systemInstructions,
  textPart,
} from '../../../transports/telemetry/messages.ts';

interface Read {
  readonly role: string;
  readonly parts: readonly Record<string, unknown>[];
  readonly finish_reason?: string;
}

function read(text: string): readonly Read[] {
  t.ok(Buffer.byteLength(text) <= MAX_CONTENT_BYTES, 'bounded');
  return JSON.parse(text) as readonly Read[];
}

t.test('a conversation has the form of the conventions, and of media their type and size', async (t) => {
  const toolCalls = [{ id: 'c1', name: 'look', arguments: { at: 'sky' } }];
  const turns: Turn[] = [
    {
      role: 'user',
      text: 'see',
      parts: [
        { type: 'text', text: 'see' },
        { type: 'image', mediaType: 'image/png', data: 'AAAAAA==' },
        { type: 'image', url: 'https://host.example/secret.png' },
        { type: 'document', text: 'ä', name: 'private.txt' },
      ],
    },
    { role: 'assistant', text: 'I look', toolCalls },
    { role: 'tool', results: [{ toolCallId: 'c1', toolName: 'look', content: 'blue', isError: false }] },
    { role: 'user', text: 'and?' },
  ];
  t.strictSame(read(inputMessages(turns)), [
    {
      role: 'user',
      parts: [
        { type: 'text', content: 'see' },
        { type: 'media', modality: 'image', mime_type: 'image/png', byte_size: 4 },
        { type: 'media', modality: 'image' },
        { type: 'media', modality: 'document', byte_size: 2 },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'text', content: 'I look' },
        { type: 'tool_call', id: 'c1', name: 'look', arguments: { at: 'sky' } },
      ],
    },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'blue' }] },
    { role: 'user', parts: [{ type: 'text', content: 'and?' }] },
  ]);
});

t.test('what an assistant says after a call stands after it, and results with media have no bytes of them', async (t) => {
  const call = { id: 'c1', name: 'look', arguments: {} };
  const order = [{ part: { type: 'text', text: 'a' } }, { call }, { part: { type: 'text', text: 'b' } }] as const;
  const result = {
    toolCallId: 'c1',
    toolName: 'look',
    content: 'x',
    isError: false,
    parts: [
      { type: 'text', text: 'x' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
    ],
  } as const;
  const [said, answered] = read(
    inputMessages([
      { role: 'assistant', text: 'a\n\nb', toolCalls: [call], order },
      { role: 'tool', results: [result] },
    ]),
  );
  t.strictSame(
    said?.parts.map((part) => part['content'] ?? part['name']),
    ['a', 'look', 'b'],
  );
  t.strictSame(answered?.parts[0]?.['response'], [
    { type: 'text', content: 'x' },
    { type: 'media', modality: 'image', mime_type: 'image/png', byte_size: 3 },
  ]);
});

t.test('of a long conversation the newest messages are there, and how many are missing', async (t) => {
  const turns: Turn[] = Array.from({ length: 100 }, (_value, index) => ({ role: 'user', text: `${index} ${'w'.repeat(1000)}` }));
  const messages = read(inputMessages(turns));
  t.match(messages.at(-1)?.parts[0]?.['content'], /^99 w+$/);
  const [first, second] = messages;
  t.strictSame(first, { role: 'blockhouse', parts: [{ type: 'cut', messages: 100 - (messages.length - 1) }] });
  t.ok(messages.length > 25, 'as many as fit');
  t.match(second?.parts[0]?.['content'], /\[…cut\]$/, 'the oldest of them is cut');
});

t.test('a long text is cut with a mark, within no character, also where each of its characters takes several bytes', async (t) => {
  for (const character of ['w', 'ä', '…', '😀', '"', '\n', '\u0001', '\ud800']) {
    const [message] = read(inputMessages([{ role: 'user', text: `a${character.repeat(40_000)}` }]));
    const content = String(message?.parts[0]?.['content']);
    t.ok(content.endsWith(CUT), JSON.stringify(character));
    t.equal(content, `a${character.repeat((content.length - CUT.length - 1) / character.length)}${CUT}`);
    const size = Buffer.byteLength(JSON.stringify(content));
    t.ok(size > MAX_CONTENT_BYTES - 400, `${size} bytes: no more is cut than must be`);
  }
});

t.test('a text is cut where its JSON takes as many bytes as it may', async (t) => {
  for (const text of ['a"b\\c\n\t\u0000\u001f\u007f', 'äé…', '😀😀', '\ud800x\udc00'])
    for (let most = 0; most < 40; most += 1) {
      const cut = cutText(text, most);
      const next = [...text].slice(0, [...cut].length + 1).join('');
      t.ok(Buffer.byteLength(JSON.stringify(cut)) - 2 <= most);
      t.ok(cut === text || Buffer.byteLength(JSON.stringify(next)) - 2 > most);
    }
});

t.test('an answer has why it ended, also where it is cut', async (t) => {
  t.strictSame(read(outputMessages([textPart('reasoning', 'hm'), textPart('text', 'yes')], 'stop')), [
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', content: 'hm' },
        { type: 'text', content: 'yes' },
      ],
      finish_reason: 'stop',
    },
  ]);
  t.strictSame(read(outputMessages([], 'unknown')), [{ role: 'assistant', parts: [], finish_reason: 'unknown' }]);
  const long = { id: 'c', name: 'write', arguments: { text: 'w'.repeat(50_000) } };
  const [message] = read(outputMessages([callPart(long), textPart('text', 'more'), textPart('text', 'and more')], 'tool_call'));
  t.match(message, {
    finish_reason: 'tool_call',
    parts: [
      { name: 'write', arguments: /^\{"text":"w+ \[…cut\]$/ },
      { type: 'cut', parts: 2 },
    ],
  });
  const huge = { id: 'i'.repeat(40_000), name: 'write', arguments: {} };
  t.match(read(outputMessages([callPart(huge)], 'tool_call')), [{ parts: [], finish_reason: 'tool_call' }]);
});

t.test('arguments that nest too deep to be written are left out', async (t) => {
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 20_000; level += 1) deep = { deep };
  t.match(read(outputMessages([callPart({ id: 'c', name: 'n', arguments: deep })], 'tool_call')), [{ parts: [{ name: 'n', arguments: CUT.trim() }] }]);
});

t.test('the system text is a list of parts', async (t) => {
  t.equal(systemInstructions({ system: undefined }), undefined);
  t.equal(systemInstructions({ system: 'be kind' }), '[{"type":"text","content":"be kind"}]');
  t.equal(
    systemInstructions({ system: 'a\n\nb', systemParts: [{ text: 'a' }, { text: 'b' }] }),
    '[{"type":"text","content":"a"},{"type":"text","content":"b"}]',
  );
  const long = systemInstructions({ system: 'w'.repeat(50_000) }) ?? '';
  t.ok(Buffer.byteLength(long) <= MAX_CONTENT_BYTES);
  t.ok(long.endsWith(`${CUT}"}]`));
});
