/** What families of models refuse beyond Converse's own rules. */
import type { Json } from "../json.ts";
import { asList, asObject, asText } from "../json.ts";
import { firstFailure } from "../checks.ts";
import type { Failure } from "../refusal.ts";
import { says } from "./refusals.ts";

interface Asked {
  readonly model: string;
  readonly body: Json;
  readonly stream: boolean;
}

type ToolBlock = "toolUse" | "toolResult";

const blocksOf = (value: unknown): Json[] => asList(value).map(asObject);
const turnsOf = (body: Json): Json[][] =>
  blocksOf(body["messages"]).map(({ content }) => blocksOf(content));
const within = (body: Json, kind: ToolBlock): Json[] =>
  turnsOf(body)
    .flat()
    .flatMap((block) => (kind in block ? [asObject(block[kind])] : []));

/** Refuses turns that have other blocks beside those of a kind. */
const standAlone =
  (kind: ToolBlock, name: string) =>
  (body: Json): Failure | undefined => {
    const at = turnsOf(body).findIndex(
      (turn) => turn.some((block) => kind in block) && !turn.every((block) => kind in block),
    );
    return at === -1
      ? undefined
      : says(
          `messages.${at}.content: Conversation blocks and ${name} blocks cannot be provided in the same turn.`,
        );
  };
const resultsAlone = standAlone("toolResult", "tool result");
const callsAlone = standAlone("toolUse", "tool use");

/** Refuses these kinds of blocks in results. */
const noneInResults =
  (...kinds: readonly string[]) =>
  (body: Json): Failure | undefined =>
    within(body, "toolResult").some(({ content }) =>
      blocksOf(content).some((block) => kinds.some((kind) => kind in block)),
    )
      ? says("This model doesn't support this content in a tool result.")
      : undefined;

const shortIds = (body: Json): Failure | undefined =>
  [...within(body, "toolUse"), ...within(body, "toolResult")].every(({ toolUseId }) =>
    /^[a-zA-Z0-9]{9}$/.test(asText(toolUseId)),
  )
    ? undefined
    : says("Tool call id must be a-z, A-Z, 0-9, with a length of 9.");

const noStatus = (body: Json): Failure | undefined =>
  within(body, "toolResult").some((result) => "status" in result)
    ? says("This model doesn't support the status field. Remove status and try again.")
    : undefined;

const noStops = (body: Json): Failure | undefined =>
  "stopSequences" in asObject(body["inferenceConfig"])
    ? says(
        "This model doesn't support the stopSequences field. Remove stopSequences and try again.",
      )
    : undefined;

const noToolStreams = (body: Json, stream: boolean): Failure | undefined =>
  stream && "toolConfig" in body
    ? says("This model doesn't support tool use in streaming mode.")
    : undefined;

type Rule = (body: Json, stream: boolean) => Failure | undefined;

const rules: readonly (readonly [model: RegExp, rules: readonly Rule[]])[] = [
  [/meta\.llama/, [noToolStreams, resultsAlone, callsAlone]],
  [/(?:^|\.)mistral\./, [resultsAlone, shortIds, noneInResults("image")]],
  [/writer\.palmyra/, [noToolStreams, resultsAlone, noStatus]],
  [/qwen\.|moonshot/, [noneInResults("image", "document", "video", "audio")]],
  [/qwen\.|openai\.|deepseek\.v|google\.gemma|zai\./, [noStops]],
];

/** Returns the first refusal of a model's family. */
export const refusedByFamily = ({ model, body, stream }: Asked): Failure | undefined =>
  firstFailure(
    rules.filter(([pattern]) => pattern.test(model)).flatMap(([, own]) => own),
    (rule) => rule(body, stream),
  );
