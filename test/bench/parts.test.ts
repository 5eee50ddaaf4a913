/** The parts of the benchmark that its figures depend on: bodies, medians, the end of an answer, the note about the bottleneck. */
import { describe, expect, it } from "vitest";
import { bodyOf } from "../../bench/bodies.ts";
import {
  isLoadTheBottleneck,
  isSideTheBottleneck,
  middle,
  ratioOf,
  type Figures,
  type Row,
} from "../../bench/figures.ts";
import { AnswerReader } from "../../bench/load/answer-reader.ts";
import { orderOf } from "../../bench/rounds.ts";
import { chooseScenarios, scenarios } from "../../bench/scenarios.ts";
import { chatAnswers } from "../../bench/upstream/answers.ts";

const scenario = (name: string) => chooseScenarios([name])[0]!;

const figures = (parts: Partial<Figures>): Figures => ({
  perSecond: 1,
  medianMs: 1,
  p99Ms: 1,
  loadBusy: 0,
  failures: 0,
  ...parts,
});

const row = (name: string, ...rounds: Partial<Figures>[]): Row => ({
  scenario: scenario(name),
  subject: "one",
  rounds: rounds.map(figures),
});

describe("the order of a round", () => {
  it.each([2, 3, 4])(
    "gives each of %d subjects every place, and none always follows the same one",
    (count) => {
      const subjects = Array.from({ length: count }, (_, index) => index);
      const orders = Array.from({ length: 2 * count }, (_, round) => orderOf(subjects, round));
      for (const subject of subjects) {
        const places = new Set(orders.map((order) => order.indexOf(subject)));
        expect(places.size).toBe(count);
        const before = orders.flatMap((order) => order[order.indexOf(subject) - 1] ?? []);
        const most = Math.max(...subjects.map((one) => before.filter((it) => it === one).length));
        expect(most).toBeLessThanOrEqual(count === 2 ? 2 : before.length / 2);
      }
    },
  );
});

describe("bodies", () => {
  const sized = scenarios.filter(({ bodyKb }) => bodyKb !== undefined);
  it.each(sized.map((one) => [one.name, one] as const))("%s has its declared size", (_, one) => {
    const bytes = Buffer.byteLength(bodyOf(one, "bench-large"));
    expect(bytes).toBeGreaterThan(one.bodyKb! * 990);
    expect(bytes).toBeLessThan(one.bodyKb! * 1_010);
  });

  it("an agent's body has a system prompt, tools, and tool results that name their calls", () => {
    const body = JSON.parse(bodyOf(scenario("120kb-direct-stream"), "m")) as {
      messages: { role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[];
      tools: object[];
      stream: boolean;
    };
    expect(body.stream).toBe(true);
    expect(body.tools.length).toBeGreaterThan(4);
    expect(body.messages.length).toBeGreaterThan(40);
    expect(body.messages[0]!.role).toBe("system");
    const asked = body.messages.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? []);
    const answered = body.messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
    expect(answered).toEqual(asked);
  });
});

describe("figures", () => {
  it("the median is the middle value, or the mean of the two in the middle", () => {
    expect(middle([5, 1, 3])).toBe(3);
    expect(middle([4, 1, 3, 2])).toBe(2.5);
    expect(middle([])).toBeNaN();
  });

  it("a ratio is the median of the ratios of all rounds", () => {
    const own = row("one@128", { perSecond: 10 }, { perSecond: 30 }, { perSecond: 50 });
    const bare = row("one@128", { perSecond: 20 }, { perSecond: 100 }, { perSecond: 50 });
    expect(ratioOf(own, bare, "perSecond")).toBe(0.5);
    expect(ratioOf(own, undefined, "perSecond")).toBeUndefined();
    expect(ratioOf(own, bare, "processorUs")).toBeUndefined();
  });

  it("the load is the bottleneck if it is busy and the subject is not", () => {
    expect(isLoadTheBottleneck(row("one@128", { loadBusy: 0.98, subjectBusy: 0.6 }))).toBe(true);
    expect(isLoadTheBottleneck(row("one@128", { loadBusy: 0.98, subjectBusy: 0.99 }))).toBe(false);
    expect(isLoadTheBottleneck(row("one@1", { loadBusy: 0.98, subjectBusy: 0.6 }))).toBe(false);
    const side = row("one@128", { loadBusy: 0.4, sideBusy: 0.97, subjectBusy: 0.6 });
    expect(isLoadTheBottleneck(side)).toBe(false);
    expect(isSideTheBottleneck(side)).toBe(true);
  });
});

describe("the end of an answer", () => {
  const { complete, stream } = chatAnswers();
  /** Reads an answer in pieces of `size` bytes. Returns the events that the reader reported. */
  function read(answer: Buffer, size: number, streamed: boolean): string[] {
    const events: string[] = [];
    const reader = new AnswerReader(streamed, {
      first: () => void events.push("first"),
      complete: (ok) => void events.push(ok ? "whole" : "wrong"),
    });
    for (let at = 0; at < answer.length; at += size) reader.read(answer.subarray(at, at + size));
    return events;
  }

  it.each([1, 7, 64, 1_000, 1_000_000])("is found in reads of %i bytes", (size) => {
    expect(read(complete, size, false)).toEqual(["first", "whole"]);
    expect(read(stream, size, true)).toEqual(["first", "whole"]);
  });

  it("is wrong for another kind or status, and without the last event", () => {
    expect(read(complete, 1_000, true)).toEqual(["first", "wrong"]);
    expect(read(stream, 1_000, false)).toEqual(["first", "wrong"]);
    const refused = Buffer.from(complete.toString().replace("200 OK", "402 Payment Required"));
    expect(read(refused, 1_000, false)).toEqual(["first", "wrong"]);
    const cut = Buffer.from(stream.toString().replace("[DONE]", "[LOST]"));
    expect(read(cut, 1_000, true)).toEqual(["first", "wrong"]);
  });
});

describe("scenarios", () => {
  it("are chosen by name, by group and by the part before the @", () => {
    expect(chooseScenarios(["caps@128"]).map(({ name }) => name)).toEqual(["caps@128"]);
    expect(chooseScenarios(["caps"]).map(({ name }) => name)).toEqual([
      "caps@16",
      "caps@128",
      "caps@256",
      "caps@1",
    ]);
    expect(chooseScenarios(["bodies"])).toHaveLength(16);
    expect(chooseScenarios([])).toHaveLength(scenarios.length);
  });

  it("have unique names", () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });
});
