// Random requests through each protocol. Within one protocol nothing is lost; to another one, the notes name exactly the
// losses.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { noteParams } from "../../src/base/notes.ts";
import type {
  CanonicalRequest,
  JsonObject,
  MediaPart,
  Message,
} from "../../src/protocols/canonical/request.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import {
  conversationFacts,
  missing,
  settingFacts,
  toBeReported,
  toolFacts,
  type Fact,
} from "./facts.ts";
import { asCarried } from "./equivalents.ts";
import { someRequest } from "./requests.ts";

const modelLimit = 8000;
const address = { model: "acme/talk", stream: false };

/** The route from one protocol to another. Undefined if the upstream does not accept the content. */
function convert(caller: ProtocolName, upstream: ProtocolName, body: JsonObject) {
  try {
    return createRoute({
      caller: codecs[caller],
      upstream: codecs[upstream],
      body,
      stream: false,
      requestedModel: "acme/talk",
      model: "acme/talk",
      upstreamModel: "vendor-model",
      maxOutputTokens: modelLimit,
      inputEstimate: 1,
      id: "01abc",
      createdAt: 1,
    });
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return undefined;
    throw error;
  }
}

/**
 * True if a conversion refuses this media. It refuses media that it cannot carry, except PDF and web addresses, which the
 * requirements let it drop.
 */
function isRefusedMedia(
  { media, source }: MediaPart,
  role: Message["role"],
  upstream: ProtocolName,
): boolean {
  const { limits } = codecs[upstream];
  const rule = limits.media[media];
  if (rule === "refused") return true;
  if (source.kind === "parts") return false;
  if (rule === "dropped") {
    const type = source.kind === "file_id" ? undefined : source.mediaType;
    return type !== undefined && !["application/pdf", "application/octet-stream"].includes(type);
  }
  if (
    role === "system" ||
    (role === "assistant" && !limits.supportedMembers.includes("assistantMedia"))
  )
    return true;
  if (source.kind === "base64") return false;
  if (source.kind === "file_id") return true;
  const isWeb = /^https?:/i.test(source.url);
  return !limits.fetchesUrl(source.url, media) && !(isWeb && limits.webMedia === "dropped");
}

const isRefused = ({ messages }: CanonicalRequest, upstream: ProtocolName): boolean =>
  messages.some(({ role, content }) =>
    content
      .flatMap((part) => (part.type === "tool_result" ? part.content : [part]))
      .some((part) => part.type === "media" && isRefusedMedia(part, role, upstream)),
  );

const factsOf = (request: CanonicalRequest): Fact[] => [
  ...conversationFacts(request),
  ...toolFacts(request),
  ...settingFacts(request),
];

describe.each(protocolNames)("a request of %s", (caller) => {
  const codec = codecs[caller];

  it("reads back as it was written", () => {
    fc.assert(
      fc.property(someRequest(caller), (request) => {
        const body = codec.encodeRequest(request, "acme/talk");
        const read = codec.decodeRequest(body, address);
        expect(missing(factsOf(request), factsOf(read))).toEqual([]);
        expect(codec.encodeRequest(read, "acme/talk")).toEqual(body);
      }),
    );
  });

  it.each(protocolNames.filter((upstream) => upstream !== caller))(
    "loses only what its notes name on conversion to %s, and the notes name only losses",
    (upstream) => {
      fc.assert(
        fc.property(someRequest(caller), (random) => {
          const body = codec.encodeRequest(random, "acme/talk");
          const request = codec.decodeRequest(body, address);
          const route = convert(caller, upstream, body);
          expect(route === undefined).toBe(isRefused(request, upstream));
          if (!route) return;
          const arrived = codecs[upstream].decodeRequest(route.body, address);
          const carried = asCarried(request, arrived, upstream);
          const lost = missing(factsOf(carried), factsOf(arrived));
          const reported = noteParams(route.notes);
          const namesOf = (facts: readonly Fact[]) => facts.map(({ name }) => name);
          expect(reported).toEqual(expect.arrayContaining(namesOf(toBeReported(lost))));
          expect(namesOf(lost)).toEqual(expect.arrayContaining(reported));
        }),
      );
    },
  );
});
