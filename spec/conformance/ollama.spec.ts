// The conformance suite over the ollama wire.
import t from 'tap';
import { conformance } from './suite.ts';
import { ollama } from './wires/ollama.ts';

conformance(t, ollama);
