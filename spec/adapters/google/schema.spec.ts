// The types against Google's own: what we send must be assignable to what the official client sends.
import type { Content, FunctionDeclaration, Part } from '@google/genai';
import t from 'tap';
import type { GoogleContent, GoogleFunctionDeclaration, GooglePart, GoogleRequest } from '../../../adapters/google/schema.ts';

t.test("our shapes are assignable to those of Google's client", async (t) => {
  const part: GooglePart = { functionCall: { id: 'fc-1', name: 'f', args: {} }, thoughtSignature: 's' };
  const content: GoogleContent = { role: 'model', parts: [part] };
  const declaration: GoogleFunctionDeclaration = { name: 'f', parametersJsonSchema: {} };
  const request: GoogleRequest = { contents: [content], generationConfig: { maxOutputTokens: 1 } };
  const theirs: { part: Part; contents: Content[]; declaration: FunctionDeclaration } = { part, contents: request.contents, declaration };
  t.strictSame(theirs, { part, contents: [content], declaration });
});
