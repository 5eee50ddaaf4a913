/** Names whose servers change their answers, or hide an address in another form, queried over DNS itself. Row HOOK-08; trap T77. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkAddress, guardedRequest, type Resolve } from "../../src/upstream/index.ts";
import { createNames } from "../../src/upstream/names.ts";
import { startDns, type DnsServer } from "../support/dns.ts";
import { serve } from "./servers.ts";

const outside = "93.184.215.14";
const outside6 = "2606:4700::1111";

/** The records of each name, by IP family: addresses, and CNAMEs where the name is an alias. */
const names: Readonly<Record<string, { readonly 4?: string[]; readonly 6?: string[] }>> = {
  "mixed.example": { 4: [outside], 6: ["::1"] },
  "other-mixed.example": { 4: ["10.0.0.1"], 6: [outside6] },
  "two.example": { 4: [outside, "169.254.169.254"] },
  "mapped.example": { 6: ["::ffff:127.0.0.1"] },
  "nat64.example": { 6: ["64:ff9b::7f00:1"] },
  "isatap.example": { 6: ["2606:4700::5efe:7f00:1"] },
  "6to4.example": { 6: ["2002:7f00:1::"] },
  "nothing.example": { 4: ["0.0.0.0"], 6: ["::"] },
  "chain.example": { 4: ["hop.example", "inside.example", "192.168.0.1"] },
  "here.example": { 4: ["localhost", "127.0.0.1"] },
};
/** The answers of a rebinding name: each query gets the next one. */
const turns = ["127.0.0.2", "127.0.0.1"];
let turn = 0;
const isChecked = Promise.withResolvers<void>();
let dns: DnsServer;
let resolve: Resolve;
beforeAll(async () => {
  dns = await startDns(async (name, family) => {
    if (name === "turning.example") return family === 4 ? [turns[turn++ % 2]!] : [];
    if (name === "late.example") {
      if (family === 6) await isChecked.promise;
      return family === 4 ? [outside] : ["::1"];
    }
    return names[name]?.[family] ?? [];
  });
  resolve = createNames({ servers: [dns.at] });
});
afterAll(() => dns.close());

const rule = { https: false, allowPrivate: false, param: "webhook_url" };

it.each(Object.keys(names))("HOOK-08, T77: %s is refused", async (name) => {
  const check = checkAddress(`http://${name}/x`, { ...rule, resolve });
  await expect(check).rejects.toMatchObject({
    code: "invalid_value",
    message: expect.stringContaining("private or reserved"),
  });
});

it("T77: an address that arrives too late for the check is not used", async () => {
  const { addresses } = await checkAddress("http://late.example/x", { ...rule, resolve });
  isChecked.resolve();
  expect(addresses).toEqual([{ address: outside, family: 4 }]);
});

it("T77: each request resolves the name once, and connects to that address", async () => {
  const first = await serve((_request, response) => response.end("first"), "127.0.0.2");
  const second = await serve(
    (_request, response) => response.end("second"),
    "127.0.0.1",
    first.port,
  );
  const answers: string[] = [];
  for (let times = 0; times < 6; times += 1) {
    const { body } = await guardedRequest({
      ...rule,
      allowPrivate: true,
      resolve,
      url: `http://turning.example:${first.port}/x`,
      method: "POST",
      headers: {},
      body: "{}",
      timeoutMs: 30_000,
      responseBytesMax: 100,
    });
    answers.push(body.toString());
  }
  expect(answers).toEqual(["first", "second", "first", "second", "first", "second"]);
  expect(turn).toBe(6);
  await Promise.all([first.close(), second.close()]);
});
