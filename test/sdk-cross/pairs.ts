/**
 * An official SDK against an upstream of another protocol: the same scenarios as on its own, and the dropped parameters that the
 * gateway must report. Requirements: CONV, TXT-05.
 */
import { describe, expect, it } from "vitest";
import {
  failsAs,
  failureNames,
  leavesInMidStream,
  scenarios,
  stopsAtSequence,
  weather,
  type Ask,
  type Connection,
  type Sdk,
} from "../sdk/scenarios.ts";
import { png, scripted, useWorld, type World } from "../sdk/support.ts";
import { protocols, sdks, systemOf, worldOf, type Protocol } from "./support.ts";

/** A picture of these bytes in a request of each protocol. */
const pictureOf: Readonly<Record<Protocol, (base64: string) => object>> = {
  chat: (base64) => ({
    type: "image_url",
    image_url: expect.objectContaining({ url: `data:image/png;base64,${base64}` }),
  }),
  responses: (base64) => ({ type: "input_image", image_url: `data:image/png;base64,${base64}` }),
  messages: (data) => ({
    type: "image",
    source: { type: "base64", media_type: "image/png", data },
  }),
  generate_content: (data) => ({ inlineData: { mimeType: "image/png", data } }),
};

/** Reasoning parameters of the caller that each upstream does not support. */
const reasoningLost: Readonly<Record<Protocol, Readonly<Partial<Record<Protocol, string[]>>>>> = {
  chat: {},
  responses: {
    chat: ["reasoning.summary"],
    messages: ["reasoning.summary"],
    // Rewritten: only whether thoughts are returned is kept.
    generate_content: ["reasoning.summary"],
  },
  messages: { chat: ["thinking.budget_tokens"], responses: ["thinking.budget_tokens"] },
  generate_content: {
    chat: [
      "generationConfig.thinkingConfig.includeThoughts",
      "generationConfig.thinkingConfig.thinkingBudget",
    ],
    responses: ["generationConfig.thinkingConfig.thinkingBudget"],
    messages: ["generationConfig.thinkingConfig.includeThoughts"],
  },
};

/** The caller's names for the reasoning in its history, and for the reasoning parameter. */
const reasoningNames: Readonly<Record<Protocol, readonly [turn: string, wish: string]>> = {
  chat: ["messages.reasoning_content", "reasoning_effort"],
  responses: ["input.reasoning", "reasoning.effort"],
  messages: ["messages.content.thinking", "thinking.budget_tokens"],
  generate_content: ["contents.parts.thought", "generationConfig.thinkingConfig.thinkingBudget"],
};

/**
 * Further losses of a tool loop. Another vendor's reasoning has no valid signature: chat takes it as text, the others take none,
 * and messages then do not reason in the rest of the loop.
 */
function lostInLoop(caller: Protocol, target: Protocol): string[] {
  const [turn, wish] = reasoningNames[caller];
  if (target === "chat") return [];
  return target === "messages" ? [turn, wish] : [turn];
}

/** The caller's name of its stop sequences. */
const stopName: Readonly<Partial<Record<Protocol, string>>> = {
  chat: "stop",
  messages: "stop_sequences",
  generate_content: "generationConfig.stopSequences",
};

/** The gateway's reports for each call, in order, from the header or the body. */
type Reports = readonly string[][];

/** An SDK that requests a model of another protocol, with the parameters reported as dropped. */
function withTarget(sdk: Sdk, target: Protocol): { sdk: Sdk; told: () => Promise<Reports> } {
  const model = sdks[target].model;
  const named = (ask: Ask): Ask => ({ model, ...ask });
  const losses: Promise<string[]>[] = [];
  const recordingFetch: typeof fetch = async (...args) => {
    const answer = await fetch(...args);
    losses.push(lossesOf(answer.clone()));
    return answer;
  };
  const connect: Sdk["connect"] = (options) => {
    const connection = sdk.connect({ fetch: recordingFetch, ...options });
    return {
      ask: (ask) => connection.ask(named(ask)),
      stream: (ask, leaveAfter) => connection.stream(named(ask), leaveAfter),
      answer: (ask, told, results) => connection.answer(named(ask), told, results),
    } satisfies Connection;
  };
  return { sdk: { ...sdk, model, connect }, told: () => Promise.all(losses) };
}

/** Streams report dropped parameters in a header, whole answers in their body. */
async function lossesOf(answer: Response): Promise<string[]> {
  const header = answer.headers.get("x-gw-dropped-params");
  if (answer.headers.get("content-type")?.startsWith("text/event-stream")) {
    await answer.body?.cancel();
    return header === null ? [] : header.split(", ");
  }
  expect(header).toBeNull();
  const body = (await answer.json()) as { gw?: { droppedParams: string[] } };
  return body.gw?.droppedParams ?? [];
}

function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== "object" || value === null) return;
  yield value;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

const common = scenarios.filter(({ looksAt }) => looksAt === undefined);
const counting = scenarios.filter(({ looksAt }) => looksAt === "usage");

/** Selects the rows of one place, for rows that run at several; `shareOfRows` of long.ts, which files with two forms import themselves. */
type Turn = <Row>(rows: readonly Row[], place: number) => readonly Row[];

/**
 * All scenarios of one SDK, against each of the three other protocols. In the short form, each failure and each scenario that
 * checks only the answer runs on one or two of the three.
 */
export function describeCrossings(caller: Protocol, turn: Turn): void {
  const world = useWorld();
  describe.each(protocols.filter((protocol) => protocol !== caller))(
    "STREAM-03: an upstream of %s",
    (target) => {
      const place = protocols.indexOf(caller) + protocols.indexOf(target);
      const pair = () => {
        const { sdk, told } = withTarget(sdks[caller], target);
        return { sdk, told, world: worldOf(world, target) };
      };

      it.each(turn(common, place))("$title", async ({ run }) => {
        const { sdk, told, world: targetWorld } = pair();
        await run(targetWorld, sdk);
        expect((await told()).flat()).toEqual([]);
      });

      it.each(counting)("$title", async ({ run }) => {
        const { sdk, told, world: targetWorld } = pair();
        await run(targetWorld, sdk);
        expect(await told()).toEqual([reasoningLost[caller][target] ?? []]);
      });

      it("a picture reaches the model byte for byte", async () => {
        const { sdk, told, world: targetWorld } = pair();
        const picture = png();
        const answer = await sdk
          .connect(targetWorld)
          .ask({ text: "What is this picture of?", picture });
        expect(answer.text).toContain("I see 1 image.");
        const [arrival] = await targetWorld.arrivals("What is this picture of?");
        expect([...objectsIn(arrival!.body)]).toContainEqual(
          expect.objectContaining(pictureOf[target](picture.toString("base64"))),
        );
        expect(await told()).toEqual([[]]);
      });

      it("a system prompt is sent in the upstream's own place", async () => {
        const { sdk, told, world: targetWorld } = pair();
        const system = "You are a lighthouse keeper.";
        await sdk.connect(targetWorld).ask({ text: "Who are you?", system });
        const [arrival] = await targetWorld.arrivals(system);
        expect(arrival!.body).toMatchObject(systemOf(target, system));
        expect(await told()).toEqual([[]]);
      });

      describeStopping(caller, target, pair);

      it("a tool loop of a reasoning model ends with an answer", async () => {
        const { sdk, told, world: targetWorld } = pair();
        const script = {
          reasoning: "A city is asked for.",
          tool_calls: [{ name: "weather", arguments: { city: "Bonn" } }],
          next: { reply: "Rain." },
        };
        const ask = { text: scripted("Think!", script), tools: [weather], reasons: true };
        const connection = sdk.connect(targetWorld);
        const first = await connection.stream(ask);
        expect(first.calls).toEqual(script.tool_calls);
        expect(await connection.answer(ask, first, ["wet"])).toMatchObject({ text: "Rain." });
        const lost = reasoningLost[caller][target] ?? [];
        expect((await told()).map((names) => names.toSorted())).toEqual([
          lost.toSorted(),
          [...lost, ...lostInLoop(caller, target)].toSorted(),
        ]);
      });

      it("leaving in mid-stream stops the upstream at once and is charged", async () => {
        const { sdk, world: targetWorld } = pair();
        await leavesInMidStream(targetWorld, sdk);
      });

      it.each(turn(failureNames, place))("%s is thrown as the SDK's own error", async (name) => {
        const { sdk, world: targetWorld } = pair();
        await failsAs(targetWorld, sdk, name);
      });
    },
  );
}

interface Pair {
  readonly sdk: Sdk;
  readonly told: () => Promise<Reports>;
  readonly world: World;
}

async function endsAtStop({ sdk, told, world }: Pair): Promise<void> {
  // Only the messages protocol reports which stop sequence ended the text.
  const { stopSequence: _untold, ...finish } = sdk.finish;
  await stopsAtSequence(world, { ...sdk, finish });
  expect(await told()).toEqual([[], []]);
}

async function losesStop({ sdk, told, world }: Pair, name: string): Promise<void> {
  const ask = { text: scripted("Count", { reply: "one two three four" }), stop: ["three"] };
  const connection = sdk.connect(world);
  for (const answer of [await connection.ask(ask), await connection.stream(ask)]) {
    expect(answer.text).toBe("one two three four");
  }
  expect(await told()).toEqual([[name], [name]]);
}

/** Responses have no stop sequences, neither as a caller nor as an upstream. There the text goes on, and the loss is reported. */
function describeStopping(caller: Protocol, target: Protocol, pair: () => Pair): void {
  const name = stopName[caller];
  if (name === undefined) return;
  const asked =
    target === "responses"
      ? (["TXT-14 TXT-15: stop sequences are dropped and reported", losesStop] as const)
      : (["stop sequences end the text", endsAtStop] as const);
  it.each([asked])("%s", (_title, run) => run(pair(), name));
}
