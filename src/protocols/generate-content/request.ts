/** Decodes a generateContent request into the canonical form. Requirements: CONV. Model and streaming come from the path. */
import { isObject, type WireObject } from "../../base/json.ts";
import type { CanonicalRequest, JsonObject, Message } from "../canonical/request.ts";
import type { RequestAddress } from "../codec.ts";
import { keepUnknown, keepUnknownIn } from "../native.ts";
import { compileCheck } from "../wire-check.ts";
import { list, type Fields } from "../read.ts";
import { decodeConfig, type Gathered } from "./config.ts";
import { withLists } from "./lists.ts";
import { read, spelling } from "./names.ts";
import { OpenCalls } from "./open-calls.ts";
import { decodeParts } from "./parts.ts";
import { decodeToolConfig, decodeTools } from "./tools.ts";
import { generateContentRequest } from "./wire.ts";

/** Validates a body of `:generateContent`. @throws GatewayError naming the first field at fault, in the caller's spelling. */
export const validate = compileCheck(generateContentRequest);

/** @throws GatewayError naming the offending field. */
export function decodeRequest(given: JsonObject, address: RequestAddress): CanonicalRequest {
  validate(given);
  const body = withLists(given);
  const gathered: Gathered = { names: {}, native: [], used: new Set(["contents", "model"]) };
  const messages = decodeMessages(body, gathered);
  const fields: Fields = {
    ...decodeConfig(body, gathered),
    ...decodeTools(body, gathered),
    ...decodeToolConfig(body, gathered),
  };
  if (typeof body["store"] === "boolean") {
    fields.store = body["store"];
    gathered.names.store = "store";
    gathered.used.add("store");
  }
  keepUnknown(body, gathered.used, "", gathered.native);
  return {
    ...fields,
    protocol: "generate_content",
    model: address.model,
    stream: address.stream,
    messages,
    native: gathered.native,
    names: gathered.names,
  };
}

function decodeMessages(body: WireObject, gathered: Gathered): Message[] {
  const messages: Message[] = [];
  const calls = new OpenCalls();
  const { native } = gathered;
  const system = read(body, "systemInstruction");
  if (system !== undefined) {
    const name = spelling(body, "systemInstruction");
    gathered.used.add(name);
    const content =
      typeof system === "string"
        ? [{ type: "text" as const, text: system }]
        : decodeParts(object(system)["parts"], `${name}.parts`, { native, calls, place: "s" });
    if (content.length > 0) messages.push({ role: "system", content });
    keepUnknownIn(body, name, { known: contentFields, prefix: "", native });
  }
  for (const [index, wire] of list(body["contents"]).entries()) {
    if (!isObject(wire)) continue;
    const param = `contents[${index}]`;
    const context = { native, calls, place: String(index) };
    const role = wire["role"] === "model" ? "assistant" : "user";
    if (role === "user") calls.endRound();
    messages.push({ role, content: decodeParts(wire["parts"], `${param}.parts`, context) });
    keepUnknown(wire, contentFields, param, native);
  }
  return messages;
}

const contentFields = new Set(["role", "parts"]);

const object = (value: unknown): WireObject => (isObject(value) ? value : {});
