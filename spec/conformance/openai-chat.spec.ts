// The conformance suite over the openai-chat wire.
import t from 'tap';
import { conformance } from './suite.ts';
import { openaiChat } from './wires/openai-chat.ts';

conformance(t, openaiChat);
