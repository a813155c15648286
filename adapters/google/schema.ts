// The wire shapes of the Gemini API's generateContent. What we send is exact, what we read is lenient.
// Source: @google/genai `genai.d.ts`, GenerateContentParameters and Content. Pure: types only.

export interface GoogleFunctionCall {
  /** Only an id that Gemini itself made; the response to the call then carries it too. */
  id?: string;
  name: string;
  args: Record<string, unknown>;
}

export interface GoogleFunctionResponse {
  id?: string;
  name: string;
  response: { output: string } | { error: string };
}

/** `thoughtSignature` is opaque and goes back byte for byte on the part it came with. */
export type GooglePart =
  | { text: string; thoughtSignature?: string }
  | { functionCall: GoogleFunctionCall; thoughtSignature?: string }
  | { functionResponse: GoogleFunctionResponse };

export interface GoogleContent {
  role: 'user' | 'model';
  parts: GooglePart[];
}

export interface GoogleFunctionDeclaration {
  name: string;
  description?: string;
  /** JSON Schema; the older `parameters` takes an OpenAPI subset, and the two exclude each other. */
  parametersJsonSchema?: Record<string, unknown>;
}

export interface GoogleRequest {
  systemInstruction?: { parts: GooglePart[] };
  contents: GoogleContent[];
  tools?: { functionDeclarations: GoogleFunctionDeclaration[] }[];
  toolConfig?: { functionCallingConfig: { mode: 'AUTO' } };
  generationConfig: { maxOutputTokens: number; temperature?: number };
}

/** What an answer leaves under `providerMetadata.google`, on a call or on the message, to come back with it. */
export interface GoogleMetadata {
  /** The model that wrote it, without `models/`: no other model takes its signatures. */
  model: string;
  /** On a call. */
  thoughtSignature?: string;
  /** On a call: the id that Gemini gave it. */
  id?: string;
  /** On a message: the signature of its text. */
  textSignature?: string;
}
