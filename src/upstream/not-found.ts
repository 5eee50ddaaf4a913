/**
 * Classifies a vendor's "not found". Either an object that the caller named is missing (a thread, a file, a stored response), or the model
 * or path, which the operator configured. Only the latter counts against the provider.
 */
import type { WireError } from "../protocols/index.ts";

/** Objects that callers name by an id from the vendor. */
const things =
  "(?:previous |stored |parent |referenced |uploaded )?(?:response|item|message|thread|conversation|file|document|image file|container|vector[ _]?store|cached ?contents?|context cache|cache|prompt|skill|memory|assistant|run|batch|session|checkpoint|corpus|datastore|mcp server|connector|voice)s?";

/** `previous_response_not_found`, `file_not_found`, `invalid_file_id` */
const storedObjectCode =
  /^(?:previous_response|response|item|message|thread|conversation|file|container|vector_store|cached_?content|cache|prompt|skill|assistant|session)_?(?:id_)?(?:not_?found|expired|deleted)$|^(?:Response|Item|Thread|Conversation|File|Container|CachedContent|Session)NotFound$/;

/** The fields in which a request names such an object. */
const storedObjectParam =
  /^(?:previous_response_id|conversation(?:\.|$|_id)|thread(?:\.|$|_id)|container(?:\.|$)|prompt(?:\.|$)|cached_?content|session_id|.*\bfile_?(?:id|ids|uri|data)\b|.*\bvector_store_ids?\b)/i;

const missing =
  "(?:not (?:be )?(?:found|exist)|n't (?:be )?(?:found|exist)|no longer (?:exists?|available)|(?:has |is |was )?(?:expired|deleted))";

const storedObjectMessages: readonly RegExp[] = [
  // No thread found with id 'thread_1'. / No such File object: file-1 / No file with id file_1
  new RegExp(`^(?:\\w+: )?no (?:such )?${things}\\b`, "i"),
  // Item with id 'rs_1' not found. / File file_1 not found on container cntr_1 / CachedContent cachedContents/1 does not exist
  new RegExp(
    `^(?:the |your |this |unknown )?(?:requested |specified )?${things}\\b.{0,300}${missing}`,
    "is",
  ),
  // could not find file file_1 / cannot find the conversation / Unable to find container
  new RegExp(
    `(?:could not|cannot|can't|unable to|failed to) (?:find|locate|resolve) (?:the |a )?${things}\\b`,
    "i",
  ),
  // You do not have permission to access the File files/1 or it may not exist.
  new RegExp(`permission to access the ${things}\\b.{0,200}may not exist`, "i"),
];

/** The message of web servers for an unknown path. */
const pathMessage =
  /^(?:404\b\W*)?(?:the )?(?:requested )?(?:file|document)(?: or directory)? (?:was )?not found\W*$/i;

const modelMessage =
  /\b(?:models?|deployments?|endpoints?|engine|api version)\b|\bnot supported for\b|^\/?v\d|\b(?:path|route|url|page|method|resource)\b/i;
const modelCode = /model|deployment|endpoint|route|path|method/i;

/** Google's message with 403 for a missing file or cache. */
const deniedMessage = /may not exist|not found \(or permission denied\)/i;

/**
 * True if a refusal is about an object that the caller named. `namesAnything` is called if the vendor does not say what is missing: it
 * tells whether the request names such an object.
 */
export function isAboutStoredObject(
  status: number,
  wire: WireError,
  namesAnything: () => boolean,
): boolean {
  const { code = "", param = "", message } = wire;
  if (status === 403) return deniedMessage.test(message) && isStoredObject(message);
  if (status !== 404 && status !== 410) return false;
  if (storedObjectCode.test(code)) return true;
  if (isPlainlyOurs(wire)) return false;
  if (isStoredObject(message)) return true;
  if (modelMessage.test(message)) return false;
  // Google says only this, whatever is missing.
  const isUnsaid = /^requested entity was not found/i.test(message);
  return storedObjectParam.test(param) || (isUnsaid && namesAnything());
}

function isPlainlyOurs({ type, code = "", param, message }: WireError): boolean {
  if (modelCode.test(code) || param === "model") return true;
  return type === undefined && code === "" && pathMessage.test(message);
}

const isStoredObject = (message: string): boolean =>
  storedObjectMessages.some((pattern) => pattern.test(message));

/** The fields in which Google's requests name stored objects. */
const fields: ReadonlySet<string> = new Set([
  "cachedContent",
  "cached_content",
  "fileUri",
  "file_uri",
]);
const depthMax = 12;

/** True if a request names an object that the vendor stores. */
export function namesStoredObject(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null || depth > depthMax) return false;
  return Object.entries(value).some(
    ([name, member]) => fields.has(name) || namesStoredObject(member, depth + 1),
  );
}

/** Codes and types of a 400 for an unknown or retired model: OpenAI and Hugging Face, Mistral and Perplexity, GitHub. */
const badModelWord =
  /^(?:invalid_model|unknown_model|unavailable_model|model_not_(?:found|supported))$/;

/**
 * Messages of a 400 without such a code: Amazon, DeepSeek and SiliconFlow, OpenRouter, xAI and llama.cpp, Zhipu, LiteLLM. All but the first are
 * anchored, as they may quote a prompt.
 */
const badModelMessages: readonly RegExp[] = [
  /model identifier is invalid|on-demand throughput isn.t supported|provided model (?:doesn.t|does not) exist/i,
  /^model (?:does )?not exist\b/i,
  /^\S{1,200} is not a valid model id\b/i,
  /^model not found(?:$|: \S)/i,
  /^(?:unknown model, please check|模型不存在)/i,
  /^.{0,60}\binvalid model name passed in model=/i,
];

/** True if a refusal with 400 is about the model's name, which the operator configured. A tool's model, which `param` shows, is the caller's. */
export const isAboutModel = ({ code, type, param, message }: WireError): boolean =>
  (param === undefined || param === "model") &&
  ([code, type].some((word) => word !== undefined && badModelWord.test(word)) ||
    badModelMessages.some((pattern) => pattern.test(message)));
