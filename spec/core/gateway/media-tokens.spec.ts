import t from 'tap';
import { bodyTokens, FILE_TOKENS, fileTokens, MEDIA_TOKENS } from '../../../core/gateway/media-tokens.ts';

const PNG = `iVBORw0KGgo${'A'.repeat(400_001)}`;
const PDF = `JVBERi0x${'A'.repeat(2_000_000)}`;
const tokensOf = (body: unknown): number => bodyTokens(body, typeof body === 'string' ? body.length : Buffer.byteLength(JSON.stringify(body)));
const message = (...content: unknown[]) => ({ model: 'm', messages: [{ role: 'user', content }] });

t.test('text counts by its size, with and without blanks, and also where it is written like a file', async (t) => {
  const joined = 'the_cat_sat_on_the_mat_'.repeat(45_000);
  for (const text of [joined, 'word '.repeat(200_000), `;base64,${joined}`, `data:image/png;base64,${PNG}`, PNG]) {
    t.ok(tokensOf(message({ type: 'text', text })) >= text.length / 4, text.slice(0, 30));
  }
  t.ok(tokensOf({ data: joined }) >= joined.length / 4, 'what begins like no file is text in every field');
  t.equal(tokensOf('a'.repeat(400)), 100);
});

t.test('an image counts as one in every protocol, and a PDF and an audio by their size', async (t) => {
  const url = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
  const input = { type: 'input_image', image_url: `data:image/png;base64,${PNG}` };
  const source = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };
  for (const part of [url, input, source]) {
    const tokens = tokensOf(message(part));
    t.ok(tokens >= MEDIA_TOKENS && tokens < MEDIA_TOKENS + 100, `${part.type}: ${tokens}`);
  }
  const file = tokensOf(message({ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } }));
  t.ok(file > 70_000 && file < 80_000, String(file));
  t.equal(fileTokens(`SUQz${'A'.repeat(799_996)}`), 6000);
  t.equal(fileTokens('A'.repeat(4000)), 750, 'a file of another kind is text');
});

t.test('a small file counts as the large image or the long document that it is', async (t) => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d4948445200001f4000001f40', 'hex'), Buffer.alloc(2000)]).toString('base64');
  const webp = Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0\x3f\x1f\0\x3f\x1f\0`, 'latin1'), Buffer.alloc(2000)]).toString('base64');
  for (const [kind, image] of Object.entries({ png, webp })) {
    const tokens = tokensOf(message({ type: 'image_url', image_url: { url: `data:image/${kind};base64,${image}` } }));
    t.ok(tokens > 27_000 && tokens < 30_000, `${kind}: ${tokens}`);
  }
  const icon = Buffer.concat([Buffer.from('GIF89a\x01\0\x01\0', 'latin1'), Buffer.alloc(20)]).toString('base64');
  t.equal(fileTokens(icon), MEDIA_TOKENS);
  t.ok(tokensOf(message({ type: 'image', source: { type: 'base64', media_type: 'image/gif', data: icon } })) >= MEDIA_TOKENS);
  const huge = Buffer.from(png, 'base64').fill(0xff, 16, 24).toString('base64');
  t.equal(fileTokens(huge), 30_000, 'but no more than providers take');
  t.equal(fileTokens(Buffer.from(`%PDF-1.4 ${'<</Type /Page>>'.repeat(90)}`).toString('base64')), 270_000);
  t.equal(fileTokens(Buffer.from(`%PDF-1.7 ${'x'.repeat(500)}`).toString('base64')), FILE_TOKENS);
});

t.test('of very many files the first ones are looked at, and the others count no less than a file does', async (t) => {
  const huge = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d4948445200001f4000001f40', 'hex'), Buffer.alloc(60)]).toString('base64');
  const images = Array.from({ length: 10_000 }, () => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${huge}` } }));
  const tokens = tokensOf(message(...images));
  t.ok(tokens > 4000 * 27_000 + 6000 * MEDIA_TOKENS, `no provider takes so many: ${tokens}`);
  t.ok(tokens < 5000 * 30_000 + 5000 * 2 * MEDIA_TOKENS, `no request is looked at for seconds: ${tokens}`);
  const pages = Buffer.from(`%PDF-1.4 ${'<</Type /Page>>'.repeat(20)}${' '.repeat(50_000)}`).toString('base64');
  const documents = Array.from({ length: 400 }, () => ({ type: 'file', file: { file_data: `data:application/pdf;base64,${pages}` } }));
  const ofDocuments = tokensOf(message(...documents));
  t.ok(
    ofDocuments > 60 * 60_000 + 340 * FILE_TOKENS && ofDocuments < 100 * 60_000 + 300 * 2 * FILE_TOKENS,
    `nor for the pages of its documents: ${ofDocuments}`,
  );
});

t.test('what the provider fetches or has stored counts by its kind', async (t) => {
  for (const [part, least] of [
    [{ type: 'image_url', image_url: { url: 'https://example.org/huge.png' } }, MEDIA_TOKENS],
    [{ type: 'input_image', image_url: 'https://example.org/huge.png' }, MEDIA_TOKENS],
    [{ type: 'file', file: { file_id: 'file-1' } }, FILE_TOKENS],
    [{ type: 'input_file', file_url: 'https://example.org/1000-pages.pdf' }, FILE_TOKENS],
    [{ type: 'item_reference', id: 'msg_1' }, FILE_TOKENS],
  ] as const) {
    const tokens = tokensOf(message(part));
    t.ok(tokens >= least && tokens < least + 100, `${part.type}: ${tokens}`);
  }
});

t.test('a film that the provider fetches counts as one of an hour, and a document by its link in the place of its data as a document', async (t) => {
  const link = 'https://www.youtube.com/watch?v=x';
  for (const film of [
    { type: 'video_url', video_url: { url: link } },
    { type: 'video_url', video_url: link },
    { type: 'input_video', video: link },
  ])
    t.ok(tokensOf(message(film)) >= 1_000_000, JSON.stringify(film));
  const frames = Buffer.alloc(3000, 7).toString('base64');
  t.ok(tokensOf(message({ type: 'video_url', video_url: { url: `data:video/mp4;base64,${frames}` } })) < 10_000, 'what is in the request is seen');
  t.ok(tokensOf(message({ type: 'file', file: { filename: 'a.pdf', file_data: 'https://example.org/1000-pages.pdf' } })) >= FILE_TOKENS);
  t.ok(tokensOf({ metadata: { video_url: link }, messages: [] }) < 100, 'a label is none');
});

t.test('a file whose bytes are text counts as text, whatever it begins with', async (t) => {
  for (const head of ['GIF89a', 'ID3']) {
    const text = Buffer.from(`${head} ${'the cat sat on the mat, \u00fc\u4e2d '.repeat(20_000)}`).toString('base64');
    t.ok(fileTokens(text) >= text.length / 6, head);
  }
  const noise = Buffer.from(Array.from({ length: 60_000 }, (_, index) => (index * 7919) % 251));
  t.equal(fileTokens(`/9j/${noise.toString('base64').slice(4)}`), MEDIA_TOKENS, 'but not an image');
});

t.test('what is needlessly escaped, and a reference without its type, count like all others', async (t) => {
  for (const item of [
    '{"file_ur\\u006c":"https://example.org/a.pdf"}',
    '{"type":"item_r\\u0065ference","id":"a"}',
    '{"id":"msg_1"}',
    '{"type": null, "id": "msg_1"}',
    '{"id":"msg_1","type":null}',
  ]) {
    const tokens = tokensOf(JSON.parse(`{"input":[${item}]}`));
    t.ok(tokens >= FILE_TOKENS, `${item}: ${tokens}`);
  }
  t.ok(tokensOf({ input: [{ id: 'msg_1', role: 'user', content: 'hi' }] }) < 100, 'an item with its content is what it is');
});

t.test('a file of any size, and a body of any depth, have an estimate', async (t) => {
  const image = tokensOf(message({ type: 'image_url', image_url: { url: `data:image/png;base64,iVBORw0KGgo${'A'.repeat(30_000_000)}` } }));
  t.ok(image < 60_000, String(image));
  let deep: unknown = 'x';
  for (let level = 0; level < 200_000; level += 1) deep = [deep];
  t.equal(bodyTokens(deep, 400_000), 100_000);
});

/** The head of a PNG of 1 × 1 pixels, then letters. */
const LETTERS = `${Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010800000000000000', 'hex').toString('base64').replaceAll('=', '')}${'ThisIsText'.repeat(10_000)}`;
const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {}, examples: [{ data: LETTERS }] } } };

t.test('what tools were called with, and what describes them, is text whatever it begins with', async (t) => {
  for (const [what, body] of Object.entries({
    'an input': { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { data: LETTERS } }] }] },
    'a schema': { tools: [TOOL] },
    'a schema of Messages': { tools: [{ name: 'f', input_schema: { examples: [{ url: LETTERS }] } }] },
    'an example': { tools: [{ name: 'f', input_examples: [{ data: LETTERS }] }] },
    'a tool': { tools: [{ type: 'function', function: { name: 'f', data: LETTERS } }] },
    'an older function': { functions: [{ name: 'f', data: LETTERS }] },
    'a tool in the midst': { input: [{ type: 'additional_tools', tools: [{ ...TOOL, data: LETTERS }] }] },
    'a schema of the answer': { response_format: { type: 'json_schema', json_schema: { schema: { examples: [{ data: LETTERS }] } } } },
    'a schema at the top': { guided_json: { examples: [{ data: LETTERS }] } },
  })) {
    const tokens = tokensOf(body);
    t.ok(tokens >= LETTERS.length / 4, `${what}: ${tokens}`);
  }
  t.ok(
    tokensOf({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${LETTERS}` }] }] }) < 2000,
    'but not the input of Responses',
  );
});

t.test('data of the application are neither files nor references', async (t) => {
  const use = (input: object) => ({ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input }] });
  const inputs = [{ n: 5000 }, { id: 'o1' }, { url: 'https://example.org/a' }, { file_id: 'f' }, { file_url: 'https://x/a.pdf' }, { kind: 'item_reference' }];
  for (const input of inputs) t.ok(tokensOf({ messages: [use(input)] }) < 50, JSON.stringify(input));
  t.ok(tokensOf({ tools: [{ name: 'f', input_schema: { properties: { a: { id: 'x' }, url: 'https://x' }, default: { file_id: 'f' } } }] }) < 50);
  t.ok(tokensOf({ metadata: { id: 'app' } }) < 50);
});

t.test('what says of itself that it is text is text', async (t) => {
  const document = (source: object) => message({ type: 'document', source });
  const encoded = Buffer.from(`%PDF-1.4 ${'the cat sat on the mat '.repeat(20_000)}`).toString('base64');
  for (const [what, part] of Object.entries({
    'a document of text': document({ type: 'text', media_type: 'text/plain', data: LETTERS }),
    'one without a type': document({ type: 'text', data: LETTERS }),
    'a text as base64': document({ type: 'base64', media_type: 'text/plain', data: LETTERS }),
    'a file of text': message({ type: 'file', file: { file_data: `data:text/plain;base64,${LETTERS}` } }),
    'what only the model can read': message({ type: 'redacted_thinking', data: LETTERS }),
  })) {
    const tokens = tokensOf(part);
    t.ok(tokens >= LETTERS.length / 6, `${what}: ${tokens}`);
  }
  for (const type of ['text/plain', 'TEXT/CSV; charset=utf-8', 'application/json']) t.ok(fileTokens(encoded, type) > 100_000, type);
  for (const type of ['application/pdf', '', undefined]) t.ok(fileTokens(encoded, type) < 25_000, String(type));
});
