// What `why` says of the tools of a block.
import t from 'tap';
import { toolNotes } from '../../../core/block/tool-notes.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import { completeConfig } from '../../../core/block/documents/document-codecs.ts';

const tool = (name: string) => ({ server: 'github', tool: name, pin: name, description: 'word '.repeat(300), inputSchema: { type: 'object' } });
const AT = '2026-11-28T12:00:00.000Z';

function notesOf(catalogue: () => Promise<object>, tools: object | null = { servers: ['github'], allow: ['github/*'] }) {
  const config = { ...completeConfig({}, 'ada', AT), tools } as never;
  return toolNotes(config, { tools: { host: { catalogue }, hasHost: true }, member: () => ({ isShared: false }) } as never);
}

const catalogue = (tools: readonly object[], ...problems: string[]) => ({
  tools,
  settings: {},
  problems: problems.map((problem) => ({ server: 'github', problem })),
});

t.test('why names the tools that are not offered, each once, and the command that shows them', async (t) => {
  const changed = '2 tools of github changed and are not offered (`blockhouse tools diff github`)';
  t.strictSame(await notesOf(async () => catalogue([tool('read')], changed)), [`${changed}.`]);
  t.strictSame(await notesOf(async () => catalogue([], 'there is no server github in mcp.json')), ['github: there is no server github in mcp.json.']);
  t.strictSame(await notesOf(async () => catalogue([tool('read')])), []);
});

t.test('why names the tools that the model must find', async (t) => {
  const many = Array.from({ length: 30 }, (_, index) => tool(`t${String(index).padStart(2, '0')}`));
  const given = { servers: ['github'], allow: ['github/*'], limits: { definitionTokens: 1000 } };
  const notes = await notesOf(async () => catalogue(many), given);
  t.match(notes, [/^30 tools do not fit .* must be found with block__find_tool\.$/, /^To be found: github\/t00, github\/t01, .*github\/t09 and others\.$/]);
});

t.test('a block without tools asks nobody, and a catalogue that fails is a note', async (t) => {
  const never = async (): Promise<never> => {
    throw new BlockhouseError('TOOL_SERVER_FAILED', 'The pins can not be read.');
  };
  t.strictSame(await notesOf(never, null), []);
  t.strictSame(await notesOf(never), ["Its tools can't be listed: The pins can not be read."]);
});
