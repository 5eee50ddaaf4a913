/**
 * Valid but unusual JSON must pass a direct route too: names, characters and sizes that cause errors in code that walks or
 * copies values.
 */
import { describe, expect, it } from "vitest";
import { modelOf, useBench, upstreamModel } from "./support.ts";

/** Each is the JSON text of a tool's schema, which only the upstream interprets. */
const odd: readonly { readonly title: string; readonly json: string }[] = [
  {
    title: "JavaScript's own names",
    json: '{"__proto__":{"a":1},"constructor":null,"toString":[]}',
  },
  { title: "empty names and names with dots", json: '{"":{"":0},"a.b":{"c[0]":1}," ":2}' },
  {
    title: "escaped and raw characters",
    json: JSON.stringify({ a: "\u2028\u2029\u0000\u001f\ud83c\udfd4 ä 東" }),
  },
  { title: "half a surrogate pair", json: '{"a":"\\ud83c"}' },
  {
    title: "extreme numbers",
    json: "[0,-1,0.1,1e+21,5e-324,9007199254740991,1.7976931348623157e+308]",
  },
  { title: "empty values", json: '{"a":null,"b":[],"c":{},"d":"","e":false,"f":[[],[null]]}' },
  { title: "deep nesting", json: `${'{"a":['.repeat(80)}1${"]}".repeat(80)}` },
  {
    title: "four megabytes of text",
    json: JSON.stringify({ a: "0123456789abcdef".repeat(262_144) }),
  },
  {
    title: "ten thousand names",
    json: JSON.stringify(
      Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`n${at}`, at])),
    ),
  },
];

const body = (model: string, schema: string) =>
  `{"model":${JSON.stringify(model)},"messages":[{"role":"user","content":"Hi"}],` +
  `"tools":[{"type":"function","function":{"name":"f","parameters":{"x":${schema}}}}],"metadata":{"z":"1","a":"2"}}`;

describe("unusual JSON on a direct route", () => {
  const bench = useBench();

  it.each(odd)("TXT-07: arrives byte for byte: $title", async ({ json }) => {
    const { gateway, received } = bench;
    const [request] = await received(async () => {
      const reply = await gateway.post("/v1/chat/completions", body(modelOf("chat"), json));
      expect(reply.status).toBe(200);
    });
    // Not `expect(...).toBe`, which would print a difference of megabytes.
    expect(request!.text === body(upstreamModel, json)).toBe(true);
  });
});
