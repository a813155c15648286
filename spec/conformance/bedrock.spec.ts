// The conformance suite over the bedrock wire.
import t from 'tap';
import { conformance } from './suite.ts';
import { bedrock } from './wires/bedrock.ts';

conformance(t, bedrock);
