/** Direct routes forward the body unchanged, because they do not convert it. TXT-07. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import {
  byPrice,
  chat,
  eachProtocol,
  generateContent,
  messages,
  upstreamModel,
} from "./protocols.ts";
import { answering, readEvents, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const bodyAt = (recorder: World["first"]) => recorder.requests.at(-1)!.body;

describe("a direct route", () => {
  it.each(eachProtocol)(
    "TXT-07: forwards the caller's body, except for the model (%s)",
    async (_name, protocol) => {
      const extra = {
        foo: { nested: [1, "two", null, { three: 3.5 }] },
        metadata: { user_id: "somebody" },
        ключ: "значение 🙂",
      };
      await world.call(protocol, { model: `${protocol.model}:first`, extra });
      const sent = { ...protocol.body(protocol.model, false), ...extra };
      const expected = protocol === generateContent ? sent : { ...sent, model: upstreamModel };
      expect(bodyAt(world.first)).toEqual(expected);
    },
  );

  it.each(eachProtocol)(
    "TXT-07: forwards a stream's body too, plus the field that metering needs (%s)",
    async (_name, protocol) => {
      await readEvents(
        await world.call(protocol, { model: `${protocol.model}:first`, stream: true }),
      );
      const sent = protocol.body(upstreamModel, true);
      const metering = protocol === chat ? { stream_options: { include_usage: true } } : {};
      expect(bodyAt(world.first)).toEqual({ ...sent, ...metering });
    },
  );

  it.each([40, 40_000])(
    "TXT-07: sends the caller's own bytes to the second provider too after the first failed (%i characters)",
    async (length) => {
      world.first.answer(json({ error: { message: "boom" } }, 500));
      const said = `"temperature": 1.0,\n "seed": 12345678901234567890, "foo": [1e2, "\\u00e9"]`;
      const text = (model: string): string =>
        `{"model": "${model}", "messages": [{"role":"user",  "content":"${"é".repeat(length)}"}], ${said}}`;
      const answer = await fetch(`${world.gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${world.gateway.first!.apiKey}`,
          "content-type": "application/json",
        },
        body: text(byPrice(chat)),
      });
      expect(answer.status).toBe(200);
      const own = text("M").split('"model": "M", ')[1]!.slice(0, -1);
      for (const { requests } of [world.first, world.second])
        expect(requests.at(-1)!.text).toContain(own);
    },
  );

  it("CONV-713: keeps every digit of a tool's arguments, even if their names have Unicode escapes", async () => {
    const input = String.raw`{"gr\u00f6\u00dfe":1,"order":9223372036854775807}`;
    const call = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"order","input":${input}}]}`;
    const result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}`;
    const answer = await fetch(`${world.gateway.url}/v1/messages`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${world.gateway.first!.apiKey}`,
        "content-type": "application/json",
      },
      body: `{"model":"${messages.model}:first","max_tokens":50,"messages":[{"role":"user","content":"Order"},${call},${result}]}`,
    });
    expect(answer.status).toBe(200);
    expect(world.first.requests.at(-1)!.text).toContain('"order":9223372036854775807}');
  });
});
