/**
 * Families of models that refuse more than Converse itself, by their names at Bedrock. pydantic-ai checked most of it with the real models
 * (pydantic-ai #6081). docs/bedrock.md; traps T20, T21, T27.
 */
import type { CanonicalRequest, JsonObject } from "../canonical/request.ts";
import type { UpstreamCodec } from "../codec.ts";
import { mistralCallId, type Limits, type MediaKind } from "../limits.ts";
import { describeBridge, divideTurns, type ToolBlock } from "./divide-turns.ts";
import { withMediaBeside } from "./media-beside.ts";

/** The additional rules of a family. */
interface Family {
  readonly limits?: Partial<Limits>;
  /** True if the family refuses stop sequences. */
  readonly refusesStops?: true;
  /** True if the family streams no answers to requests with tools. */
  readonly refusesToolStreams?: true;
  /** Blocks that refuse others in their turn. */
  readonly alone?: readonly ToolBlock[];
  /** Media that the family reads in a user's turn, but refuses in a tool's result. */
  readonly refusedInResults?: readonly MediaKind[];
}

const anyMedia: readonly MediaKind[] = ["image", "audio", "video", "file"];

const mistral: Family = {
  limits: { callIdForm: mistralCallId },
  alone: ["toolResult"],
  refusedInResults: ["image", "audio", "video"],
};

const families: readonly (readonly [name: RegExp, family: Family])[] = [
  [/(?:^|[./])meta\.llama/, { refusesToolStreams: true, alone: ["toolResult", "toolUse"] }],
  // Its models of 2024.
  [/(?:^|[./])mistral\.mistral-(?:large|small)-24/, { ...mistral, refusesToolStreams: true }],
  [/(?:^|[./])mistral\./, mistral],
  // It also refuses to be told that a result is an error.
  [
    /(?:^|[./])writer\.palmyra/,
    { refusesToolStreams: true, limits: { supportedMembers: [] }, alone: ["toolResult"] },
  ],
  [/(?:^|[./])qwen\./, { refusesStops: true, refusedInResults: anyMedia }],
  [/(?:^|[./])moonshot(?:ai)?\./, { refusedInResults: anyMedia }],
  // DeepSeek R1 accepts them.
  [/(?:^|[./])(?:openai\.|deepseek\.v|google\.gemma|zai\.)/, { refusesStops: true }],
];

/** Returns a function that finds the codec of a model's family; `converse` itself for any other model. */
export function familyCodecs(converse: UpstreamCodec): (model: string) => UpstreamCodec {
  const codecs = families.map(([name, family]) => [name, codecOf(family, converse)] as const);
  return (model) => codecs.find(([name]) => name.test(model))?.[1] ?? converse;
}

function codecOf(family: Family, converse: UpstreamCodec): UpstreamCodec {
  const { limits = {}, refusesStops, alone = [], refusedInResults = [] } = family;
  const { unsupportedFields } = converse.limits;
  const stops = { ...unsupportedFields, stop: "this model refuses stop sequences, dropped" };
  return {
    ...converse,
    limits: {
      ...converse.limits,
      unsupportedFields: refusesStops ? stops : unsupportedFields,
      ...limits,
    },
    encodeRequest(request: CanonicalRequest, model: string): JsonObject {
      const messages = request.messages.map((message) =>
        withMediaBeside(message, refusedInResults),
      );
      const body = converse.encodeRequest({ ...request, messages }, model);
      return { ...body, messages: divideTurns(body["messages"] as JsonObject[], alone) };
    },
    describeAddedText: describeBridge,
    refusesStream: (body) => family.refusesToolStreams === true && "toolConfig" in body,
  };
}
