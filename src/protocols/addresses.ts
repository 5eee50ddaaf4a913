/**
 * Addresses in a request that an upstream would fetch: of pictures, files and servers. Read from the wire body, because a direct route also
 * sends fields that no codec decodes. Trap T77.
 */
import { isObject, type WireObject } from "../base/json.ts";
import { shortText } from "../base/text.ts";
import type { JsonObject, ProtocolName } from "./canonical/request.ts";

/** An address and its path as the caller wrote it: `messages[0].content[1].image_url.url`. */
export interface NamedAddress {
  readonly param: string;
  readonly url: string;
}

/** The top-level members of each protocol's body that can hold addresses. */
const holders: Readonly<Record<ProtocolName, readonly string[]>> = {
  chat: ["messages", "tools"],
  responses: ["input", "prompt", "tools"],
  messages: ["messages", "system", "mcp_servers"],
  generate_content: ["contents", "systemInstruction", "system_instruction", "tools"],
};

/** Members that hold an address, an object with an address in `url`, or a list of either. Vendors use both spellings. */
const addressKeys = new Set([
  "image_url",
  "imageUrl",
  "video_url",
  "videoUrl",
  "audio_url",
  "audioUrl",
  "file_url",
  "fileUrl",
  "file_uri",
  "fileUri",
  "server_url",
  "streamableHttpTransport",
  "streamable_http_transport",
  "video",
  // Defined as base64, but some vendors fetch an address there.
  "file_data",
  "input_audio",
  "source",
]);

/** Free JSON that a model wrote or reads. An address in it is text, and no upstream fetches it. */
const freeKeys = new Set([
  "input",
  "args",
  "response",
  "parameters",
  "parametersJsonSchema",
  "parameters_json_schema",
  "responseJsonSchema",
  "response_json_schema",
  "input_schema",
]);

/** Returns every address in a request, in request order. Some results may be no address: bare base64 or file ids. */
export function addressesIn(protocol: ProtocolName, body: JsonObject): NamedAddress[] {
  const found: NamedAddress[] = [];
  for (const key of holders[protocol]) {
    const value = body[key];
    if (typeof value !== "object" || value === null) continue;
    const path: Path = [key];
    if (key === "mcp_servers") addAddress(value, path, found);
    walk(value, path, found);
  }
  return found;
}

type Path = (string | number)[];

function walk(value: unknown, path: Path, found: NamedAddress[]): void {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (typeof item !== "object" || item === null) continue;
      path.push(index);
      walk(item, path, found);
      path.pop();
    }
  } else if (isObject(value)) walkMembers(value, path, found);
}

function walkMembers(value: WireObject, path: Path, found: NamedAddress[]): void {
  for (const key in value) {
    const member = value[key];
    const isAddress = addressKeys.has(key);
    if (!isAddress && (typeof member !== "object" || member === null || freeKeys.has(key)))
      continue;
    path.push(key);
    if (isAddress) addAddress(member, path, found);
    walk(member, path, found);
    path.pop();
  }
}

/** A `source` string is a label (search results); a `source` object holds an address in `url`. */
function addAddress(value: unknown, path: Path, found: NamedAddress[]): void {
  if (typeof value === "string") {
    if (path.at(-1) !== "source") found.push({ param: nameOf(path), url: value });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) addAddress(item, [...path, index], found);
  } else if (isObject(value)) {
    // Some vendors fetch an address in the base64 `data` of `input_audio`. The `data` of a `source` may be any text.
    for (const key of path.at(-1) === "input_audio" ? ["url", "data"] : ["url"]) {
      const url = value[key];
      if (typeof url === "string") found.push({ param: nameOf([...path, key]), url });
    }
  }
}

/** The caller chooses the keys on the path, so they may have any length. */
const nameCharactersMax = 200;

const nameOf = (path: Path): string =>
  path
    .map((step) =>
      typeof step === "number" ? `[${step}]` : `.${shortText(step, nameCharactersMax)}`,
    )
    .join("")
    .slice(1, nameCharactersMax);
