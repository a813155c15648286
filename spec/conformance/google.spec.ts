// The conformance suite over the google wire.
import t from 'tap';
import { conformance } from './suite.ts';
import { google } from './wires/google.ts';

conformance(t, google);
