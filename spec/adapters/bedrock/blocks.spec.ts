import t from 'tap';
import { AnswerBlocks } from '../../../adapters/bedrock/blocks.ts';
import type { ChatEvent } from '../../../core/index.ts';
import { contextOf, LLAMA } from './help.ts';

const TOOL = { toolUse: { toolUseId: 't1', name: 'f' } };

function withInput(...pieces: string[]): AnswerBlocks {
  const blocks = new AnswerBlocks(contextOf());
  blocks.open(0, TOOL);
  for (const input of pieces) blocks.add(0, { toolUse: { input } });
  return blocks;
}

t.test('text leaves at once', async (t) => {
  const blocks = new AnswerBlocks(contextOf());
  t.same(blocks.add(0, { text: 'Hé' }), [{ type: 'text', text: 'Hé' }]);
  t.same(blocks.add(0, { text: '' }), []);
  t.same(blocks.finish('end_turn'), []);
});

t.test('gotcha 7: pieces of a tool call’s input are joined before they are parsed', async (t) => {
  t.same(withInput('{"ci', 'ty":"Os', '', 'lo"}').finish('tool_use'), [
    { type: 'toolCall', toolCall: { id: 't1', name: 'f', arguments: { city: 'Oslo' } }, index: 0 },
  ]);
});

t.test('no input at all stands for no arguments', async (t) => {
  t.match(withInput().finish('tool_use'), [
    { type: 'toolCallDelta', text: '{}' },
    { type: 'toolCall', toolCall: { arguments: {} } },
  ]);
  t.match(withInput('').finish('end_turn'), [
    { type: 'toolCallDelta', text: '{}' },
    { type: 'toolCall', toolCall: { arguments: {} } },
  ]);
});

t.test('a call cut off by the token limit is left out with a warning', async (t) => {
  for (const pieces of [['{"city":"Os'], [], [''], ['{}'], ['{"city":"Oslo"}']]) {
    t.match(withInput(...pieces).finish('max_tokens'), [{ type: 'warning', warning: { field: 'message.toolCalls', message: /call to f was cut off/ } }]);
  }
});

t.test('a call with another block behind it was complete before the token limit struck', async (t) => {
  const blocks = withInput();
  blocks.open(1, { toolUse: { toolUseId: 't2', name: 'g' } });
  blocks.add(1, { toolUse: { input: '{"a' } });
  t.match(blocks.finish('max_tokens'), [{ type: 'toolCallDelta', text: '{}' }, { type: 'toolCall', toolCall: { id: 't1' } }, { type: 'warning' }]);
});

t.test('broken arguments without the token limit are damage', async (t) => {
  for (const input of ['{"city":', '[]', '"text"', 'null']) {
    t.throws(() => withInput(input).finish('tool_use'), { code: 'UPSTREAM_MALFORMED' }, input);
  }
});

t.test('pieces that fit no block are damage', async (t) => {
  const piece = { toolUse: { input: '{}' } };
  t.throws(() => new AnswerBlocks(contextOf()).add(0, piece), { code: 'UPSTREAM_MALFORMED' });
  t.throws(() => withInput().add(0, { text: 'x' }), { code: 'UPSTREAM_MALFORMED' });
  t.throws(() => withInput().add(0, { reasoningContent: { text: 'x' } }), { code: 'UPSTREAM_MALFORMED' });
});

t.test('pieces of reasoning make the state of a Claude model, in order', async (t) => {
  const blocks = new AnswerBlocks(contextOf());
  blocks.add(0, { reasoningContent: { text: 'I thi' } });
  blocks.add(0, { reasoningContent: { text: 'nk' } });
  blocks.add(0, { reasoningContent: { signature: 'sig' } });
  blocks.add(1, { reasoningContent: { redactedContent: 'AAEC' } });
  blocks.add(2, { text: ' \n' });
  blocks.open(3, TOOL);
  t.match(blocks.finish('tool_use'), [
    { type: 'toolCallDelta', text: '{}' },
    { type: 'toolCall' },
    {
      type: 'providerMetadata',
      providerMetadata: {
        bedrock: {
          content: [
            { reasoningContent: { reasoningText: { text: 'I think', signature: 'sig' } } },
            { reasoningContent: { redactedContent: 'AAEC' } },
            { toolUse: { toolUseId: 't1', name: 'f', input: {} } },
          ],
        },
      },
    },
  ]);
});

t.test('reasoning whose text is withheld still has its signature', async (t) => {
  const blocks = new AnswerBlocks(contextOf());
  blocks.add(0, { reasoningContent: { signature: 'sig' } });
  t.match(blocks.finish('end_turn'), [
    { providerMetadata: { bedrock: { content: [{ reasoningContent: { reasoningText: { text: '', signature: 'sig' } } }] } } },
  ]);
});

t.test('no state is kept of a turn that lost a call, nor of reasoning without signature, nor for other vendors', async (t) => {
  const cut = withInput('{"a');
  cut.add(1, { reasoningContent: { text: 'x', signature: 's' } });
  t.match(cut.finish('max_tokens'), [{ type: 'warning' }]);
  const unsigned = new AnswerBlocks(contextOf());
  unsigned.add(0, { reasoningContent: { text: 'x' } });
  t.same(unsigned.finish('max_tokens'), []);
  const other = new AnswerBlocks(contextOf({}, { model: LLAMA }));
  other.add(0, { reasoningContent: { text: 'x', signature: 's' } });
  t.same(other.finish('end_turn'), []);
});

t.test('kinds of content that are not known yet are skipped', async (t) => {
  const blocks = new AnswerBlocks(contextOf());
  blocks.open(0, { hologram: {} });
  t.same(blocks.add(0, { hologram: { x: 1 } }), []);
  t.same(blocks.finish('end_turn'), []);
});

t.test('reasoning that leads an answer is one state, however many blocks follow it', async (t) => {
  const blocks = new AnswerBlocks(contextOf());
  for (let at = 0; at < 2000; at += 1) blocks.add(at, { reasoningContent: { redactedContent: 'eA==' } });
  const events: ChatEvent[] = [];
  for (let at = 2000; at < 4000; at += 1) events.push(...blocks.open(at, { toolUse: { name: 'f' } }));
  t.match(events[0], { type: 'reasoningState' });
  t.equal(events.filter(({ type }) => type === 'reasoningState').length, 1);
});
