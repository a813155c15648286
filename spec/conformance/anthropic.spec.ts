// The conformance suite over the anthropic wire.
import t from 'tap';
import { conformance } from './suite.ts';
import { anthropic } from './wires/anthropic.ts';

conformance(t, anthropic);
