// What an id says about a model of Google. Pure: no I/O.

const GEMINI_3 = /^gemini-(?:[3-9]|[1-9]\d|[a-z-]+-latest$)/;
const GEMINI_4 = /^gemini-4/;
const GEMINI_25 = /^gemini-2\.5/;

/** Gemini 3.6 and later, 3.5 Flash-Lite, and the aliases for them. Source: ai.google.dev, "What's new in Gemini 3.6 Flash and 3.5 Flash-Lite". */
const FIXED_SAMPLING = /^gemini-(?:3\.(?:[6-9]|\d\d)|3\.5-flash-lite|[4-9]|[1-9]\d|flash(?:-lite)?-latest$)/;

/**
 * Gemini 3 and later, and the aliases for them. They take a level of thinking, refuse a step whose first call lacks a signature, and take images inside the
 * response to a call.
 */
export function isGemini3(model: string): boolean {
  return GEMINI_3.test(model);
}

/** Gemini 4 has a lower limit of tokens for an answer that is not streamed. */
export function isGemini4(model: string): boolean {
  return GEMINI_4.test(model);
}

/** The models that take a budget of tokens for thinking. */
export function takesBudget(model: string): boolean {
  return GEMINI_25.test(model);
}

/** The models that ignore temperature, topP and topK; Google says that later ones will answer 400 to them. */
export function hasFixedSampling(model: string): boolean {
  return FIXED_SAMPLING.test(model);
}
