// Reads the generateContent protocol as a client does.
import {
  counted,
  isWire,
  items,
  joined,
  parsed,
  set,
  text,
  textOf,
  wire,
  type AnswerMeaning,
  type Frame,
  type Reader,
  type RequestMeaning,
  type Said,
  type StreamMeaning,
  type Turn,
  type UsageMeaning,
  type Wire,
} from "./meaning.ts";

function partSays(part: Wire): Said[] {
  const { functionCall: call, functionResponse: response, thoughtSignature } = part;
  const signature = text(thoughtSignature);
  const signed = signature === "" ? {} : { signature };
  if (isWire(call)) {
    return [{ call: text(call["name"]), id: text(call["id"]), arguments: call["args"], ...signed }];
  }
  if (isWire(response)) return [resultOf(response)];
  const media = mediaOf(part);
  if (media) return [media];
  const said = text(part["text"]);
  if (part["thought"] === true) return [{ thinks: said, ...signed }];
  // The part of a text has the text's own signature.
  return signature === "" ? [said] : [{ thinks: "", signature }, said];
}

function resultOf(response: Wire): Said {
  const result = wire(response["response"]);
  const [key, value] = Object.entries(result)[0] ?? [];
  const isAlone = Object.keys(result).length === 1 && typeof value === "string";
  const said = isAlone && (key === "output" || key === "error") ? value : JSON.stringify(result);
  const media = items(response["parts"]).flatMap((part) => mediaOf(part) ?? []);
  return {
    result: text(response["id"]),
    name: text(response["name"]),
    says: said === "" ? media : [said, ...media],
    ...(isAlone && key === "error" ? { error: true as const } : {}),
  };
}

function mediaOf(part: Wire): Said | undefined {
  const { mimeType, data } = wire(part["inlineData"]);
  const { fileUri, mimeType: fileType } = wire(part["fileData"]);
  const address = typeof data === "string" ? `data:${text(mimeType)};base64,${data}` : fileUri;
  if (typeof address !== "string") return undefined;
  switch (text(mimeType ?? fileType).split("/")[0]) {
    case "image":
      return { image: address };
    case "audio":
      return { audio: address };
    case "video":
      return { video: address };
    default:
      return { file: address };
  }
}

const saidOf = (content: unknown): Said[] =>
  items(wire(content)["parts"])
    .flatMap(partSays)
    .filter((said) => said !== "");

function choiceOf(config: Wire): unknown {
  const names = config["allowedFunctionNames"] as string[] | undefined;
  if (config["mode"] === "ANY" && names?.length === 1) return { tool: names[0] };
  if (names) return { allowed: names, mode: config["mode"] === "ANY" ? "required" : "auto" };
  const modes: Wire = { AUTO: "auto", NONE: "none", ANY: "required" };
  return modes[text(config["mode"])];
}

function formatOf(config: Wire): unknown {
  const schema = config["responseJsonSchema"] ?? config["responseSchema"];
  if (schema !== undefined) return { schema };
  return config["responseMimeType"] === "application/json" ? "json" : config["responseMimeType"];
}

const plain = {
  maxOutputTokens: "max",
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  stopSequences: "stop",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
} as const;

const readConfig = [
  "thinkingConfig",
  "responseMimeType",
  "responseJsonSchema",
  "responseSchema",
  ...Object.keys(plain),
];
const read = ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "store"];

function request(body: Wire): RequestMeaning {
  const turns = items(body["contents"]).map((content) => {
    const role = content["role"] === "model" ? "assistant" : "user";
    return { [role]: saidOf(content) } as Turn;
  });
  const tools = items(body["tools"])
    .flatMap((tool) => items(tool["functionDeclarations"]))
    .map(({ name, description, parameters, parametersJsonSchema }) => [
      text(name),
      set({ description, parameters: parametersJsonSchema ?? parameters }),
    ]);
  const config = wire(body["generationConfig"]);
  const { thinkingBudget, thinkingLevel, includeThoughts } = wire(config["thinkingConfig"]);
  const settings: Wire = {
    choice: choiceOf(wire(wire(body["toolConfig"])["functionCallingConfig"])),
    format: formatOf(config),
    effort: thinkingLevel === undefined ? undefined : text(thinkingLevel).toLowerCase(),
    budget: thinkingBudget === -1 ? "dynamic" : thinkingBudget,
    thoughts: includeThoughts,
    store: body["store"],
  };
  for (const [name, meaning] of Object.entries(plain)) settings[meaning] = config[name];
  return {
    system: textOf(saidOf(body["systemInstruction"]), "\n\n"),
    turns,
    tools: Object.fromEntries(tools) as RequestMeaning["tools"],
    settings: set(settings),
    others: [
      ...Object.keys(body).filter((name) => !read.includes(name)),
      ...Object.keys(config).filter((name) => !readConfig.includes(name)),
      ...items(body["tools"])
        .flatMap((tool) => Object.keys(tool))
        .filter((name) => name !== "functionDeclarations"),
    ].sort(),
  };
}

/** The output count of this protocol excludes thoughts. */
function usageOf(usage: unknown): UsageMeaning | undefined {
  if (!isWire(usage)) return undefined;
  const count = (name: string): number => (typeof usage[name] === "number" ? usage[name] : 0);
  return counted({
    input: count("promptTokenCount") + count("toolUsePromptTokenCount"),
    cached: usage["cachedContentTokenCount"],
    output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    reasoning: usage["thoughtsTokenCount"],
  });
}

const finishes: Readonly<Record<string, string>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  RECITATION: "content_filter",
};

const errorOf = (body: Wire): string | undefined =>
  isWire(body["error"]) ? text(body["error"]["message"]) : undefined;

const skip = "skip/thought/signature/validator";

/** Removes the marker on calls of other vendors that tells Google to skip the signature check. */
function withoutSkip(said: Said): Said {
  if (!isWire(said) || !("signature" in said) || said.signature !== skip) return said;
  const { signature: _none, ...rest } = said;
  return rest;
}

function answer(body: Wire): AnswerMeaning {
  const error = errorOf(body);
  if (error !== undefined) return { says: [], error };
  const candidate = items(body["candidates"])[0] ?? {};
  const says = gathered(saidOf(wire(candidate["content"])).map(withoutSkip));
  const blocked = wire(body["promptFeedback"])["blockReason"];
  const reason = text(candidate["finishReason"] ?? blocked);
  const hasCalls = says.some((said) => isWire(said) && "call" in said);
  const ending = finishes[reason] ?? `unknown: ${reason}`;
  const usage = usageOf(body["usageMetadata"]);
  return {
    says,
    finish: ending === "stop" && hasCalls ? "tool_calls" : ending,
    ...(usage ? { usage } : {}),
  };
}

/** Joins neighbouring thoughts and texts. A signature without text ends the thought before it. */
function gathered(says: readonly Said[]): Said[] {
  const result: Said[] = [];
  for (const said of joined(says)) {
    const last = result.at(-1);
    const follows = isWire(said) && "thinks" in said && isWire(last) && "thinks" in last;
    if (follows && last["signature"] === undefined) {
      result[result.length - 1] = { ...said, thinks: `${text(last["thinks"])}${said.thinks}` };
    } else result.push(said);
  }
  return result;
}

interface Gathered {
  readonly faults: string[];
  readonly parts: Wire[];
  /** The last value of each member. */
  readonly last: Wire;
  candidate: Wire;
  error: string | undefined;
}

/** Reads a stream. Every frame is a complete object with further parts; the last has finish reason and usage. */
function stream(frames: readonly Frame[]): StreamMeaning {
  const state: Gathered = { faults: [], parts: [], last: {}, candidate: {}, error: undefined };
  for (const [index, frame] of frames.entries()) takeFrame(state, frame, `frame ${index}`);
  const { faults, parts, last, candidate, error } = state;
  if (error !== undefined) {
    return { says: gathered(parts.flatMap(partSays).map(withoutSkip)), error, faults };
  }
  const isBlocked = isWire(last["promptFeedback"]);
  if (candidate["finishReason"] === undefined && !isBlocked) faults.push("no finishReason");
  const content = { role: "model", parts };
  return { ...answer({ ...last, candidates: [{ ...candidate, content }] }), faults };
}

function takeFrame(state: Gathered, frame: Frame, at: string): void {
  const { faults } = state;
  const data = parsed(frame.data);
  if (frame.event !== undefined) faults.push(`${at} has an event line`);
  if (state.error !== undefined) faults.push(`${at} after the error`);
  if (!isWire(data)) {
    faults.push(`${at} is not a JSON object`);
    return;
  }
  state.error = errorOf(data);
  if (state.error === undefined) takeAnswer(state, data, at);
}

function takeAnswer(state: Gathered, data: Wire, at: string): void {
  const { faults } = state;
  if (state.candidate["finishReason"] !== undefined) faults.push(`${at} after the finish`);
  if (text(data["modelVersion"]) === "") faults.push(`${at} names no model`);
  state.candidate = items(data["candidates"])[0] ?? {};
  const { content } = state.candidate;
  const isBlocked = isWire(data["promptFeedback"]);
  if (isWire(content) ? content["role"] !== "model" : !isBlocked) {
    faults.push(`${at} has no content of the model`);
  }
  state.parts.push(...items(wire(content)["parts"]));
  Object.assign(state.last, data);
}

export const generateContentReader: Reader = { request, answer, stream };
