// The helpers of the official SDKs before a whole server and each provider's own bytes, translated and, where there is one, in the native lane: structured
// output, tool runners, images, and a stream that its reader leaves.
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { betaStandardSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/beta/standard-schema';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import OpenAI from 'openai';
import { standardResponseFormat, standardTextFormat } from 'openai/helpers/standard-schema';
import { makeParseableResponseFormat, makeParseableTextFormat } from 'openai/lib/parser';
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction';
import t, { type Test } from 'tap';
import type { Meaning, Wire } from '../conformance/wire.ts';
import { startTranslating } from '../support/dialect-clients.ts';
import type { Answerer } from '../support/upstream.ts';
import { answerWith, bodyOf, PLAIN, WIRES } from '../support/wire-server.ts';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false } as const;
const parse = (content: string): object => JSON.parse(content) as object;
const FORMAT = { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } as const;
/** What libraries such as zod give to the helpers. */
const LIBRARY_SCHEMA = {
  '~standard': {
    version: 1,
    vendor: 'spec',
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input: () => ({ ...SCHEMA, required: ['city'] }), output: () => ({ ...SCHEMA, required: ['city'] }) },
  },
} as const;
const PLACE: Meaning = { ...PLAIN, text: ['{"city":', '"Oslo"}'] };
const CALL: Meaning = { ...PLAIN, text: [], toolCalls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }], stop: 'tool_use' };
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The lanes of a protocol before a provider. */
const lanesOf = (wire: Wire, native: string) => (wire.name === native ? [false, true] : [false]);
const at = (wire: Wire, isNative: boolean) => `${wire.name}${isNative ? ', native' : ''}`;

async function rig(t: Test, wire: Wire, answer: Answerer, isNative = false) {
  const server = await startTranslating(t, wire, answer, isNative);
  const openai = new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: server.token, baseURL: server.url, maxRetries: 0 });
  return { ...server, openai, anthropic };
}

/** A call first, and a text once there is its result. */
const callThenText =
  (wire: Wire): Answerer =>
  (request, res, index) =>
    answerWith(wire, wire.readRequest(request).results.length > 0 ? PLAIN : CALL)(request, res, index);

/** The beginning of a stream that never ends by itself. */
const endless =
  (wire: Wire): Answerer =>
  (_request, res) => {
    const { frames, endFrames, type } = wire.stream(PLAIN);
    res.writeHead(200, { 'content-type': type });
    res.write(Buffer.concat(frames.slice(0, -endFrames)));
  };

for (const wire of WIRES) {
  for (const isNative of lanesOf(wire, 'openai-chat')) {
    t.test(`chat.completions.parse gives the parsed object, whole and streamed (${at(wire, isNative)})`, async (t) => {
      const { openai, model } = await rig(t, wire, answerWith(wire, PLACE), isNative);
      const { type, ...json_schema } = FORMAT;
      const asked = {
        model,
        messages: [{ role: 'user' as const, content: 'where?' }],
        response_format: makeParseableResponseFormat({ type, json_schema }, parse),
      };
      t.same((await openai.chat.completions.parse(asked)).choices[0]?.message.parsed, { city: 'Oslo' });
      t.same((await openai.chat.completions.stream(asked).finalChatCompletion()).choices[0]?.message.parsed, { city: 'Oslo' });
    });

    t.test(`chat.completions.runTools runs the tool and ends with the text, whole and streamed (${at(wire, isNative)})`, async (t) => {
      for (const stream of [false, true]) {
        const { openai, model, upstream } = await rig(t, wire, callThenText(wire), isNative);
        const heard: unknown[] = [];
        const run = (input: unknown) => {
          heard.push(input);
          return '3 C';
        };
        const tool: RunnableToolFunctionWithParse<object> = {
          type: 'function',
          function: { name: 'weather', description: 'Weather', parameters: { ...SCHEMA, required: ['city'] }, parse, function: run },
        };
        const asked = { model, messages: [{ role: 'user' as const, content: 'weather?' }], tools: [tool] };
        const runner = stream ? openai.chat.completions.runTools({ ...asked, stream: true }) : openai.chat.completions.runTools(asked);
        t.equal(await runner.finalContent(), 'Hello');
        t.same(heard, [{ city: 'Oslo' }]);
        const last = upstream.requests.at(-1);
        t.equal(last && wire.readRequest(last).results[0]?.content, '3 C');
      }
    });
  }

  for (const isNative of lanesOf(wire, 'openai-responses')) {
    t.test(`responses.parse gives the parsed object, whole and streamed (${at(wire, isNative)})`, async (t) => {
      const { openai, model } = await rig(t, wire, answerWith(wire, PLACE), isNative);
      const asked = { model, input: [{ role: 'user' as const, content: 'where?' }], text: { format: makeParseableTextFormat(FORMAT, parse) } };
      t.same((await openai.responses.parse(asked)).output_parsed, { city: 'Oslo' });
      t.same((await openai.responses.stream(asked).finalResponse()).output_parsed, { city: 'Oslo' });
    });
  }

  for (const isNative of lanesOf(wire, 'anthropic')) {
    t.test(`messages.parse gives the parsed object, whole and streamed (${at(wire, isNative)})`, async (t) => {
      const { anthropic, model } = await rig(t, wire, answerWith(wire, PLACE), isNative);
      const asked = {
        model,
        max_tokens: 100,
        messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'where?' }] }],
        output_config: { format: jsonSchemaOutputFormat(SCHEMA) },
      };
      t.same((await anthropic.messages.parse(asked)).parsed_output, { city: 'Oslo' });
      t.same((await anthropic.messages.stream(asked).finalMessage()).parsed_output, { city: 'Oslo' });
    });

    t.test(`the tool runner of Messages runs the tool and ends with the text, whole and streamed (${at(wire, isNative)})`, async (t) => {
      for (const stream of [false, true]) {
        const { anthropic, model } = await rig(t, wire, callThenText(wire), isNative);
        const heard: unknown[] = [];
        const run = (input: unknown) => {
          heard.push(input);
          return '3 C';
        };
        const tools = [betaTool({ name: 'weather', description: 'Weather', inputSchema: SCHEMA, run })];
        const last = await anthropic.beta.messages
          .toolRunner({ model, max_tokens: 100, messages: [{ role: 'user', content: [{ type: 'text', text: 'weather?' }] }], tools, stream })
          .runUntilDone();
        t.match(last.content, [{ type: 'text', text: 'Hello' }]);
        t.same(heard, [{ city: 'Oslo' }]);
      }
    });

    t.test(`an image of Messages arrives (${at(wire, isNative)})`, async (t) => {
      const { anthropic, model, upstream } = await rig(t, wire, answerWith(wire), isNative);
      const image = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: PNG } };
      await anthropic.messages.create({ model, max_tokens: 100, messages: [{ role: 'user', content: [image, { type: 'text', text: 'what?' }] }] });
      t.match(JSON.stringify(bodyOf(upstream.requests.at(-1))), PNG);
    });
  }

  t.test(`the schema of a validation library gives the parsed object, with each helper (${wire.name})`, async (t) => {
    const { openai, anthropic, model } = await rig(t, wire, answerWith(wire, PLACE));
    const messages = [{ role: 'user' as const, content: 'where?' }];
    const chat = await openai.chat.completions.parse({ model, messages, response_format: standardResponseFormat(LIBRARY_SCHEMA, 'place') });
    t.same(chat.choices[0]?.message.parsed, { city: 'Oslo' });
    const response = await openai.responses.parse({ model, input: messages, text: { format: standardTextFormat(LIBRARY_SCHEMA, 'place') } });
    t.same(response.output_parsed, { city: 'Oslo' });
    const content = [{ type: 'text' as const, text: 'where?' }];
    const asked = { model, max_tokens: 100, messages: [{ role: 'user' as const, content }] };
    const message = await anthropic.beta.messages.parse({ ...asked, output_config: { format: betaStandardSchemaOutputFormat(LIBRARY_SCHEMA) } });
    t.same(message.parsed_output, { city: 'Oslo' });
  });

  t.test(`case 17: a stream that its reader leaves ends the request to the provider, for each helper (${wire.name})`, async (t) => {
    for (const isNative of [false, true]) {
      const { openai, anthropic, model, upstream } = await rig(t, wire, endless(wire), isNative);
      const messages = [{ role: 'user' as const, content: 'hi' }];
      const chat = () => {
        const stream = openai.chat.completions.stream({ model, messages });
        return stream.on('content', () => stream.abort());
      };
      const responses = () => {
        const stream = openai.responses.stream({ model, input: 'hi' });
        return stream.on('response.output_text.delta', () => stream.abort());
      };
      const ofMessages = () => {
        const stream = anthropic.messages.stream({ model, max_tokens: 100, messages });
        return stream.on('text', () => stream.abort());
      };
      for (const [index, begin] of [chat, responses, ofMessages].entries()) {
        const stream = begin();
        await t.rejects(stream.done(), /aborted/);
        await (await upstream.arrived(index)).closed;
      }
    }
  });
}
