/**
 * Random vendor answers, whole and as streams in any valid order, to callers of every protocol through a gateway. Each content
 * arrives once and in a valid form, and whole and streamed answers agree. CONV-701, CONV-705, CONV-709, CONV-713, STREAM-03 to
 * STREAM-05; traps T1 to T12, T18.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { protocolNames, type ProtocolName } from "../../src/protocols/index.ts";
import { entries, useWorld } from "../hostile/support.ts";
import { schemaOf } from "../sandbox/support.ts";
import { shortOrLong } from "../support/long.ts";
import {
  framesOf,
  readers,
  type AnswerMeaning,
  text,
  type Said,
  wire,
} from "../transcripts/readers/index.ts";
import { streamOf, wholeOf } from "./answers.ts";
import { somePlan, type Plan } from "./plan.ts";

const world = useWorld();

/** The content of an answer, by kind. White space does not count, because vendors may put some between paragraphs. */
interface Kinds {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly unknown[];
}

const withoutSpaces = (texts: readonly string[]): string => texts.join("").replace(/\s+/g, "");
/** Refusals have a field of their own in chat, so they count separately from text. */
const kindsOf = (
  texts: string[],
  refusals: string[],
  thoughts: string[],
  calls: unknown[],
): Kinds => ({
  text: withoutSpaces([...texts, ...refusals]),
  thought: withoutSpaces(thoughts),
  calls,
});

const textsOf = ({ says }: AnswerMeaning, key: string): string[] =>
  says.map((said) => text(wire(said)[key])).filter((one) => one !== "");

const isCall = (said: Said): said is Extract<Said, { call: string }> =>
  typeof said !== "string" && "call" in said;

const given = (answer: AnswerMeaning): Kinds =>
  kindsOf(
    answer.says.filter((said) => typeof said === "string"),
    textsOf(answer, "refuses"),
    textsOf(answer, "thinks"),
    answer.says.filter(isCall).map((said) => [said.call, said.id, said.arguments]),
  );

function planned({ pieces }: Plan, caller: ProtocolName): Kinds {
  const ofKind = (...kinds: string[]): string[] =>
    pieces.flatMap((piece) => ("text" in piece && kinds.includes(piece.kind) ? [piece.text] : []));
  // Chat and responses mark refusals. The other protocols put them into the text, in order.
  const isApart = caller === "chat" || caller === "responses";
  return kindsOf(
    isApart ? ofKind("text") : ofKind("text", "refusal"),
    isApart ? ofKind("refusal") : [],
    ofKind("thought"),
    pieces.flatMap((piece) => (piece.kind === "call" ? [[piece.name, piece.id, piece.input]] : [])),
  );
}

/** Returns the answer that a caller gets when the upstream answers with `answer`. */
async function ask(
  caller: ProtocolName,
  upstream: ProtocolName,
  stream: boolean,
  answer: { readonly type: string; readonly text: string },
): Promise<string> {
  world.upstream.answer((_request, response) => {
    response.writeHead(200, { "content-type": answer.type }).end(answer.text);
  });
  const { path, good } = entries.find(({ name }) => name === caller)!;
  const model = `acme/on-${upstream}`;
  const named = path.replace("acme/talk", model);
  const address = stream
    ? named.replace(":generateContent", ":streamGenerateContent?alt=sse")
    : named;
  const body = caller === "generate_content" ? good : { ...good, model, stream };
  const usage = caller === "chat" && stream ? { stream_options: { include_usage: true } } : {};
  const response = await world.gateway.post(address, { ...body, ...usage });
  const text = await response.text();
  expect(`${response.status} ${text}`).toMatch(/^200 /);
  return text;
}

const faultFinders: Readonly<Partial<Record<ProtocolName, (value: unknown) => unknown[]>>> = {
  chat: schemaOf("openai-slice.json", "CreateChatCompletionResponse") ?? (() => []),
  responses: schemaOf("openresponses-openapi-2026-04-24.json", "ResponseResource") ?? (() => []),
};

const pairs = protocolNames.flatMap((upstream) =>
  protocolNames.filter((name) => name !== upstream).map((caller) => [upstream, caller] as const),
);

describe.each(pairs)("an upstream of %s, a caller of %s", (upstream, caller) => {
  const json = (plan: Plan) => ({
    type: "application/json",
    text: wholeOf(upstream, plan),
  });
  const sse = (plan: Plan) => ({ type: "text/event-stream", text: streamOf(upstream, plan) });

  it("T14 T15: exchange the same content whole and streamed, whichever the vendor sends", async () => {
    await fc.assert(
      fc.asyncProperty(somePlan(upstream), async (plan) => {
        const wanted = planned(plan, caller);
        const body = JSON.parse(await ask(caller, upstream, false, json(plan))) as Record<
          string,
          unknown
        >;
        const whole = readers[caller].answer(body);
        expect(given(whole)).toEqual(wanted);
        expect(faultFinders[caller]?.(body) ?? []).toEqual([]);
        const gathered = readers[caller].answer(
          JSON.parse(await ask(caller, upstream, false, sse(plan))) as Record<string, unknown>,
        );
        const streams = [
          await ask(caller, upstream, true, sse(plan)),
          await ask(caller, upstream, true, json(plan)),
        ];
        for (const text of streams) {
          const { faults, ...streamed } = readers[caller].stream(framesOf(text));
          expect(faults).toEqual([]);
          expect([given(streamed), streamed.finish]).toEqual([wanted, whole.finish]);
        }
        expect([given(gathered), gathered.finish, gathered.usage]).toEqual([
          wanted,
          whole.finish,
          whole.usage,
        ]);
      }),
      { numRuns: shortOrLong(2, 100) },
    );
  });
});
