// The wire shapes of the Gemini API's generateContent. What we send is exact, what we read is lenient.
// Source: @google/genai `genai.d.ts`, GenerateContentParameters and Content. Pure: types only.

/** A tool call of the model. */
export interface GoogleFunctionCall {
  /** Set only if Gemini itself made the id; then the response to the call carries it too. */
  id?: string;
  name: string;
  args: Record<string, unknown>;
}

/** The result of a tool call. */
export interface GoogleFunctionResponse {
  id?: string;
  name: string;
  response: { output: string } | { error: string };
  /** Images, for Gemini 3 and later. */
  parts?: GoogleInlineData[];
}

/** A file in base64. */
export interface GoogleInlineData {
  inlineData: { mimeType: string; data: string };
}

/** `thoughtSignature` is opaque and goes back byte for byte on the part it came with. */
export type GooglePart =
  | { text: string; thoughtSignature?: string }
  | { functionCall: GoogleFunctionCall; thoughtSignature?: string }
  | { functionResponse: GoogleFunctionResponse }
  | GoogleInlineData
  | { fileData: { mimeType?: string; fileUri: string } };

/** One turn; `model` is the assistant. */
export interface GoogleContent {
  role: 'user' | 'model';
  parts: GooglePart[];
}

/** A tool on offer. */
export interface GoogleFunctionDeclaration {
  name: string;
  description?: string;
  /** JSON Schema; the older `parameters` takes an OpenAPI subset, and the two exclude each other. */
  parametersJsonSchema?: Record<string, unknown>;
}

/** The body of generateContent; the model is part of the path. */
export interface GoogleRequest {
  systemInstruction?: { parts: GooglePart[] };
  contents: GoogleContent[];
  tools?: { functionDeclarations: GoogleFunctionDeclaration[] }[];
  toolConfig?: { functionCallingConfig: { mode: 'AUTO' | 'ANY' | 'NONE'; allowedFunctionNames?: string[] } };
  generationConfig: GoogleGenerationConfig;
}

/** Limits, sampling, the form of the answer, thinking. */
export interface GoogleGenerationConfig {
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stopSequences?: string[];
  seed?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  responseLogprobs?: true;
  logprobs?: number;
  responseMimeType?: 'application/json';
  responseJsonSchema?: Record<string, unknown>;
  thinkingConfig?: { thinkingLevel?: 'minimal' | 'low' | 'medium' | 'high'; thinkingBudget?: number; includeThoughts?: true };
}

/** Kept in `providerMetadata.google` of a call or of a message, for the next request. */
export interface GoogleMetadata {
  /** The model that wrote it, without `models/`: no other model takes its signatures. */
  model: string;
  /** On a call: the signature to send back with it, by the name that it has at Google's endpoint for OpenAI's clients. */
  thought_signature?: string;
  /** On a call: the id that Gemini gave it. */
  id?: string;
  /** On a message: the signature of its text. */
  textSignature?: string;
}
