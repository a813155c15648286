// The conformance suite over the openai-responses wire.
import t from 'tap';
import { conformance } from './suite.ts';
import { openaiResponses } from './wires/openai-responses.ts';

conformance(t, openaiResponses);
