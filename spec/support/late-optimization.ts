// V8 optimizes a function after fifteen times as much work as usual. Tests run most of the product a few times only, so that a tenth of the processor
// time of a short process went into machine code that was hardly used. A spec of hot loops takes a little longer.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--interrupt-budget=1000000');
