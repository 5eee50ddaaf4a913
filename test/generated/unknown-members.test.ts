/**
 * Random requests with members that the gateway does not know, in any object, on direct routes to vendors of any habits. Each reaches the
 * vendor in the caller's bytes, numbers of any length included, or is reported with the member around it. TXT-07; trap T3.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { readJson } from "../../src/base/json.ts";
import { JsonSource } from "../../src/base/json-source.ts";
import { noteParams } from "../../src/base/notes.ts";
import {
  codecs,
  protocolNames,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { fullRequests } from "../hostile/full-requests.ts";
import { shortOrLong } from "../support/long.ts";
import { isWire, type Wire } from "../transcripts/readers/index.ts";
import { hasDocument, someRequest } from "./requests.ts";

/** Models of vendors with rules of their own. */
const models: Readonly<Record<ProtocolName, readonly string[]>> = {
  chat: ["gpt-5", "mistral-large", "deepseek-v4", "qwen3-max", "kimi-k3", "gemini-3-pro", "up"],
  responses: ["gpt-5", "up"],
  messages: ["claude-sonnet-4-5", "claude-opus-4-8", "deepseek-v4", "up"],
  generate_content: ["gemini-3-pro", "gemini-2.5-flash"],
};

const maybe = fc.constantFrom(undefined, true as const);
const someQuirks = fc.record({
  checksHistory: maybe,
  refusesDeveloper: maybe,
  refusesNullContent: maybe,
  refusesNamed: maybe,
  refusedMembers: fc.constantFrom(undefined, ["name", "refusal", "annotations", "audio"]),
  onlyMaximumField: fc.constantFrom(undefined, "max_tokens" as const),
});

/** Every object in a value, including the value itself. */
function objectsIn(value: unknown): Wire[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isWire(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

const unknownNames = ["zz_new", "é", "a.b", "0x", "cache", "b"];

interface Added {
  /** The request's text, with its unknown members. */
  readonly text: string;
  /** Their values as JSON, each only once in the text. */
  readonly values: readonly string[];
}

/** Adds unknown members with numbers that no double holds. */
function withUnknown(request: JsonObject, places: readonly number[], stream: boolean): Added {
  const body: Wire = { ...structuredClone(request), ...(stream ? { stream } : {}) };
  const objects = objectsIn(body);
  const values = places.flatMap((place, at) => {
    const object = objects[place % objects.length]!;
    const name = unknownNames[(place + at) % unknownNames.length]!;
    if (Object.hasOwn(object, name)) return [];
    const value = `9${String(place).padStart(6, "0")}${at}0123456789012`;
    object[name] = `number ${value}`;
    return [value];
  });
  return { text: JSON.stringify(body).replaceAll(/"number (\d+)"/g, "$1"), values };
}

/** The text for the vendor, and the reported members; undefined if the request is refused. */
function sent(protocol: ProtocolName, text: string, how: Parameters<typeof routeOf>[3]) {
  const source = new JsonSource(readJson(Buffer.from(text)));
  try {
    codecs[protocol].direct.validate(source.value as JsonObject);
    const { body, notes } = routeOf(protocol, protocol, source.value, how);
    const written = source.write(body);
    const bytes = typeof written === "string" ? written : Buffer.concat(written).toString();
    return { bytes, params: noteParams(notes) };
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

const callers = protocolNames.filter((name) => hasDocument || /^[gm]/.test(name));

describe.each(callers)("a direct request of %s", (protocol) => {
  it("T3 TXT-07: keeps unknown members in any object as they are, or reports that they are lost", () => {
    const requests = fc.oneof(
      { weight: 3, arbitrary: someRequest(protocol) },
      { weight: 1, arbitrary: fc.constantFrom(...fullRequests[protocol]) },
    );
    const places = fc.array(fc.nat(999_999), { minLength: 1, maxLength: 5 });
    const model = fc.constantFrom(...models[protocol]);
    fc.assert(
      fc.property(requests, places, model, someQuirks, fc.boolean(), (request, at, ...how) => {
        const [upstreamModel, quirks, stream] = how;
        const isInBody = stream && protocol !== "generate_content";
        const { text, values } = withUnknown(request, at, isInBody);
        const result = sent(protocol, text, { upstreamModel, stream, ...quirks });
        fc.pre(result !== undefined);
        const lost = values.filter((value) => !result.bytes.includes(value));
        expect(result.params.length > 0 ? [] : lost).toEqual([]);
      }),
      { numRuns: shortOrLong(150, 5_000) },
    );
  });
});
